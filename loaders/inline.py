"""Turn inline content of all formats into plain text: raised and lowered characters, note marks, formulas."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

_SIMPLE = re.compile(r"[-+−–]?[\w.,′']+[-+−–]?|[-+−–*†‡§]+")
_ONE = r"\[[^\[\]\s]{1,8}(?: \d{1,4})?\]"
_MARKS = re.compile(rf"{_ONE}(?:[,; ]*{_ONE})*")
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|e|ème|eme|nde?")
_NUMBERED = re.compile(r"\d|\b[IVXLC]+$")
_BASE = re.compile(r"(?:^|[^\d.,])(\d[\d.,]*\d)$")
OPERATORS = frozenset("=+−-×·*/^<>≈≤≥÷")
"""Operators; next to a number with a raised number they show that it is a power."""
_BRACKETS = "[](){} \t"
_HAT, _LINES = "\u0302", ("\u0332", "\u0305")  # combining characters: a hat, a line below, a line above
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


class Inline:
    """Builds the text of a paragraph so that raised and lowered text and note marks never merge with words or numbers.

    `10` and a raised `24` give "10^24"; `x` and a lowered `i` give "x_i", but `H`, a lowered `2` and `O` give "H2O".
    """

    def __init__(self) -> None:
        self._open: list[tuple[str, list[str]]] = [("", [])]
        self._joint: Callable[[str], bool] | None = None  # tests whether a space is needed before a character
        self._gap = False  # whether something was left out before the next text
        self._doubt: tuple[list[str], int, str] | None = None  # a raised number, and its text if it is a note mark

    @property
    def last(self) -> str:
        """The last character so far, or ""."""
        return next((part[-1] for _, parts in reversed(self._open) for part in reversed(parts) if part), "")

    def text(self, text: str) -> None:
        """Add text as it is."""
        if not text:
            return
        if self._gap:
            text = text.lstrip(" ") if not self.last.strip() else text
            self._gap = not text
        if self._doubt is not None and text.strip():
            self._decide(text.lstrip()[0])
        if self._joint is not None and self._joint(text[0]):
            self._open[-1][1].append(" ")
        self._joint = None
        self._open[-1][1].append(text)

    def skip(self) -> None:
        """Record that something is left out here, so that only one of the spaces around it remains."""
        self._gap = True

    def word(self, text: str) -> None:
        """Add text that never merges with a word or number before or after it."""
        text = text.strip()
        if text:
            self._joint = None
            self.text(text if not self.last.strip() else f" {text}")
            self._joint = str.isalnum

    def begin(self, sign: str) -> None:
        """Begin a part that is raised ("^") or lowered ("_") until `end`."""
        self._open.append((sign, []))

    def end(self) -> None:
        """End the part opened by `begin`."""
        if len(self._open) == 1:
            return
        sign, parts = self._open.pop()
        text = "".join(parts).strip()
        if not text:
            return
        self._joint = None
        before = "".join(self._open[-1][1][-8:])[-16:] or self.last
        if _MARKS.fullmatch(text):
            self.word(text)
        elif sign == "^":
            self.text(raised(before, text))
            if may_be_note(before, text):
                self._doubt = self._open[-1][1], len(self._open[-1][1]) - 1, f" [{text}]"
            if before[-1:].strip() and not _is_ordinal(before, text):
                self._joint = str.isalnum
        else:
            self.text(lowered(before, text))
            self._joint = _is_part if text.isdecimal() else str.isalnum

    def signed(self, sign: str, text: str) -> None:
        """Add text as raised ("^") or lowered ("_"), or unchanged without a sign."""
        if sign:
            self.begin(sign)
        self.text(text)
        if sign:
            self.end()

    def _decide(self, following: str) -> None:
        """Decide by the next character whether the last raised number is a note mark."""
        if self._doubt is not None and following not in OPERATORS:
            parts, place, mark = self._doubt
            parts[place] = mark
        self._doubt = None

    def note(self, label: str) -> None:
        """Add a note mark: " [3]"."""
        label = label.strip(_BRACKETS)
        self.word(f"[{label}]" if label else "")

    def take(self) -> str:
        """Return all text so far and start again."""
        while len(self._open) > 1:
            self.end()
        self._decide("")
        text = "".join(self._open[0][1])
        self._open, self._joint, self._gap = [("", [])], None, False
        return text


def may_be_note(before: str, text: str) -> bool:
    """Return whether a raised number after another may be a note mark ("45", "3") rather than a power ("10", "24")."""
    base = _BASE.search(before)
    if base is None or not text.isdecimal() or len(text) > 2 or re.fullmatch("10+", base[1]):
        return False
    return before[: base.start(1)].rstrip()[-1:] not in OPERATORS


def raised(before: str, text: str) -> str:
    """Return a superscript as text: "^24", "^(n+1)", but "th" after "19"."""
    return text if _is_ordinal(before, text) else f"^{_braced(text)}"


def lowered(before: str, text: str) -> str:
    """Return a subscript as text: "2" after "H", "_i" after "x", "_2" after "10"."""
    joins = text.isdecimal() and (before[-1:].isalpha() or before[-1:] in (")", "]"))
    return text if joins and before else f"_{_braced(text)}"


def _is_ordinal(before: str, text: str) -> bool:
    return _ORDINAL.fullmatch(text) is not None and _NUMBERED.search(before[-1:] if text != "e" else before) is not None


def _is_part(character: str) -> bool:
    """Return whether a character would change the number before it, or hide where it ends.

    Capitals do not, because of formulas.
    """
    return character.isdigit() or character.islower()


def _braced(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def ordinal(number: int, kind: str = "1") -> str:
    """Return the number of a list item: "3", or with the kind "a", "A", "i" or "I" a letter or Roman numeral."""
    text = f"{number:02d}" if kind == "01" else str(number)
    if kind == "1st":
        return text + ("th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))
    if kind in ("a", "A") and number > 0:
        text = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            text = chr(ord("a") + rest) + text
    elif kind in ("i", "I") and 0 < number < 4000:
        text = ""
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            text += letters * count
    return text.upper() if kind.isupper() else text


@dataclass(slots=True)
class Node:
    """An element of a formula: its name in MathML or Office Math, its own text, and its children."""

    name: str
    text: str = ""
    inner: "list[Node]" = field(default_factory=list)


def formula(node: Node, depth: int = 0) -> str:
    """Return a formula on one line: "x^2", "(a+b)/2", "sqrt(x)"."""
    if depth > 100:
        return ""
    parts = [part for part in node.inner if not part.name.endswith("Pr")]  # Office Math keeps properties there
    signs = {sign.name: sign.text for part in node.inner if part.name.endswith("Pr") for sign in part.inner}
    texts = [formula(part, depth + 1) for part in parts]
    match node.name, texts:
        case (("msup" | "sSup"), [base, up]):
            return base + raised("", up)
        case (("msub" | "sSub"), [base, low]):
            return base + f"_{_braced(low)}"
        case (("msubsup" | "sSubSup" | "munderover"), [base, low, up]):
            return f"{base}_{_braced(low)}" + raised("", up)
        case "nary", [low, up, base]:
            limits = (low and f"_{_braced(low)}") + (up and raised("", up))
            return f"{signs.get('chr', '∫')}{limits} {base}"
        case "limLow", [base, low]:
            return f"{base}_{_braced(low)}"
        case "limUpp", [base, up]:
            return base + raised("", up)
        case "func", [name, argument]:
            return f"{name} {argument}" if re.fullmatch(r"\w*", argument) else name + _enclosed(argument)
        case (("acc" | "bar"), [base]):
            usual = _HAT if node.name == "acc" else _LINES[signs.get("pos") == "top"]
            return (base if len(base) == 1 else _enclosed(base)) + signs.get("chr", usual)
        case "eqArr", _:
            return "; ".join(texts)
        case (("mfrac" | "f"), [above, below]):
            return f"{_operand(above)}/{_operand(below)}"
        case "msqrt", _:
            return f"sqrt({''.join(texts)})"
        case ("mroot", [base, degree]) | ("rad", [degree, base]):
            return f"root_{_braced(degree)}({base})" if degree else f"sqrt({base})"
        case "d", _:
            return signs.get("begChr", "(") + signs.get("sepChr", "|").join(texts) + signs.get("endChr", ")")
        case (("mtr" | "mr"), _):
            return ", ".join(texts)
        case (("mtable" | "m"), _):
            return f"({'; '.join(texts)})"
    return node.text + _joined(texts)


def _enclosed(text: str) -> str:
    return text if re.fullmatch(r"\([^()]*\)|\|[^|]*\|", text) else f"({text})"


def _operand(text: str) -> str:
    return text if re.fullmatch(r"[\w.]*", text) else f"({text})"


def _joined(texts: Sequence[str]) -> str:
    """Join the parts of a formula, with spaces wherever they would otherwise form another number."""
    result = ""
    for text in texts:
        result += f" {text}" if result[-1:].isalnum() and text[:1].isdigit() and not text.isdigit() else text
    return result
