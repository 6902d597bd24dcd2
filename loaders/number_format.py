"""Numbers and times of a workbook as its readers see them: "12.5%", "€ 3.50", "007", "(1,234.50)", "27:05", "May 2024".

See ISO/IEC 29500-1, section 18.8.31. Digits are never lost, and a whole date in digits is as ISO 8601 has it.
"""

import datetime as dt
import re

_PARTS = re.compile(  # spaces as wide as a sign, and colours, say nothing
    r"(?P<skipped>_.|\*.|\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\])"
    r"|\[\$(?P<currency>[^\]-]*)(?:-[0-9A-Fa-f]+)?\]|\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)",
    re.IGNORECASE,
)
_MASK = re.compile(r"[#0?]+(?:,[#0?]+)*(?:\.[#0?]+)?(?![#0?.,/Ee])")
_SECTIONS = re.compile(r"(?:\"[^\"]*\"|\\.|[^;\"\\])*")
_LETTERS = re.compile(r"[A-Za-z@\[/?]")
_TIMES = re.compile(r"(?P<elapsed>\[(?:h+|m+|s+)\])|(?P<half>AM/PM|A/P)|(?P<unit>y+|m+|d+|h+|s+)|\.(?P<parts>0+)", re.I)
_LANGUAGE = re.compile(r"\[\$[^\]-]*-(?:[0-9A-F]{1,4})?([0-9A-F]{3,4})\]", re.IGNORECASE)
_ENGLISH = "09"  # what codes of its languages end with
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def shown(held: object, form: str) -> object:
    """Return a number or a time as text where its format adds to it, or shows less than a whole date.

    Else unchanged.
    """
    if isinstance(held, dt.date | dt.time | dt.timedelta):
        return _moment(held, form.partition(";")[0]) or held
    if isinstance(held, bool) or not isinstance(held, int | float) or form in ("", "General"):
        return held
    sections = [text for text in _SECTIONS.findall(form) if text] or [form]
    negative = held < 0 and len(sections) > 1
    text = _said(abs(held) if negative or held < 0 else held, sections[1 if negative else 0])
    return held if text is None else text if negative or held >= 0 else f"-{text}"


def _said(number: float, section: str) -> str | None:
    """Return a number without its sign in one part of a format; None where that adds nothing, or is a date's."""
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match["currency"] or match["quoted"] or match["escaped"] or "")
        return "\0"

    plain = _PARTS.sub(lambda match: "" if match["skipped"] else keep(match), section)
    masks = list(_MASK.finditer(plain))
    around = _MASK.sub("", plain)
    if len(masks) != 1 or _LETTERS.search(around) or len(literals) != around.count("\0"):
        return None
    mask = masks[0][0]
    whole, _, fraction = mask.partition(".")
    digits = whole.count("0")
    alone = not (around.replace("\0", "").strip() or "".join(literals).strip() or digits > 1)
    if alone and round(number, len(fraction)) != number:
        return None
    text = f"{number * 100 ** around.count('%'):,.{len(fraction)}f}"
    if optional := len(fraction) - len(fraction.rstrip("#")):
        kept = text.rstrip("0") if optional == len(fraction) else text
        text = kept.rstrip(".")
    text = text if "," in whole else text.replace(",", "")
    text = "0" * (digits - len(re.findall(r"\d", text.partition(".")[0]))) + text
    before, after = plain[: masks[0].start()], plain[masks[0].end() :]
    texts = iter(literals)
    before, after = (re.sub("\0", lambda _: next(texts), part) for part in (before, after))
    return f"{before}{text}{after}".strip()


def _moment(held: dt.date | dt.time | dt.timedelta, form: str) -> str:
    """Return a time in a format; "" where that has no units, or those of a whole date in digits."""
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match["quoted"] or match["escaped"] or "")
        return "" if match["skipped"] else f"\0{len(literals) - 1}\0"

    plain = _PARTS.sub(keep, form)
    tokens = list(_TIMES.finditer(plain))
    units = [(token["unit"] or token["elapsed"] or "").lower() for token in tokens]
    kinds = {unit.strip("[]")[:1] for unit in units} - {""}
    named = any(unit.startswith(("mmm", "ddd")) for unit in units)
    if not kinds or (isinstance(held, dt.date) and {"y", "m", "d"} <= kinds and not named):
        return ""
    language = _LANGUAGE.search(form)
    if named and language is not None and not language[1].endswith(_ENGLISH):  # names that are not known here
        return f"{held:%Y-%m}" if isinstance(held, dt.date) and "d" not in kinds else ""
    half = any(token["half"] for token in tokens)
    text, place = "", 0
    for number, token in enumerate(tokens):
        minutes = units[number].strip("[]").startswith("m") and (
            any(u.strip("[]").startswith("h") for u in units[max(0, number - 1) : number])
            or any(u.startswith("s") for u in units[number + 1 : number + 2])
        )
        text += plain[place : token.start()] + _unit(held, token, minutes=minutes, half=half)
        place = token.end()
    text += plain[place:]
    return re.sub("\0(\\d+)\0", lambda match: literals[int(match[1])], text).strip()


def _unit(held: dt.date | dt.time | dt.timedelta, token: re.Match[str], *, minutes: bool, half: bool) -> str:
    """Return the text of a format's unit: "05" for "mm" of May."""
    if isinstance(held, dt.timedelta):
        whole = held
    elif isinstance(held, dt.datetime | dt.time):
        whole = dt.timedelta(hours=held.hour, minutes=held.minute, seconds=held.second, microseconds=held.microsecond)
    else:
        whole = dt.timedelta()
    seconds = whole // dt.timedelta(seconds=1)
    if token["parts"]:
        return f".{whole.microseconds:06d}"[: 1 + len(token["parts"])]
    hour = seconds // 3600 % 24
    if token["half"]:
        name = "AM" if hour < 12 else "PM"
        return name if len(token["half"]) > 3 else name[0]
    unit = (token["elapsed"] or token["unit"]).lower()
    if token["elapsed"]:
        count = seconds // {"h": 3600, "m": 60, "s": 1}[unit[1]]
        return f"{count:0{len(unit) - 2}d}"
    two = len(unit) > 1
    if unit[0] in "hs" or minutes:
        value = hour if unit[0] == "h" else seconds // 60 % 60 if minutes else seconds % 60
        value = (value + 11) % 12 + 1 if half and unit[0] == "h" else value
    elif not isinstance(held, dt.date):
        return ""
    elif unit[0] == "y":
        return f"{held.year:04d}" if len(unit) > 2 else f"{held.year % 100:02d}"
    elif len(unit) > 2:
        name = _MONTHS[held.month - 1] if unit[0] == "m" else _DAYS[held.weekday()]
        return name if len(unit) == 4 else name[: 1 if len(unit) == 5 else 3]
    else:
        value = held.month if unit[0] == "m" else held.day
    return f"{value:02d}" if two else str(value)
