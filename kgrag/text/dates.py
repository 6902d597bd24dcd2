"""Dates with the precision of a text: 1999, 1999-05 or 1999-05-17, compared by their common precision."""

import datetime
import re

from kgrag.values.errors import InputError

_WRITTEN = re.compile(r"(?:[^\W\d]+\.? )?(\d{3,4})((?:-\d\d?){0,2})")
_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?(?:[T ].*)?")


def partial_date(text: str) -> str:
    """Return an ISO 8601 date, whose day or month and day may be missing, in standard form; empty if invalid."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return ""
    numbers = [int(part) for part in match.groups() if part]
    try:
        datetime.date(*numbers, *[1] * (3 - len(numbers)))
    except ValueError:
        return ""
    return "-".join([match[1], *(f"{number:02}" for number in numbers[1:])])


def written_date(text: str) -> str:
    """Return a date written by a model, like `partial_date`; also with a word before ("in 1893") or a year like 476."""
    match = _WRITTEN.fullmatch(text.strip())
    return partial_date(match[1].zfill(4) + match[2]) if match else partial_date(text)


def as_told(date: str, text: str, months: str) -> str:
    """Return a date with the precision of a text; empty if its year is not in the text.

    `months`: the names of the months in its language, separated by bars.
    """
    year, *rest = date.split("-")
    in_text = rf"(?<!\d){int(year)}(?!\d)"
    date_told = year if re.search(in_text, text) else ""
    if date_told and rest:
        month, name = rest[0].lstrip("0"), months.split("|")[int(rest[0]) - 1][:3]
        numeral = rf"{in_text}\W0?{month}(?!\d)|(?<!\d)0?{month}\W{in_text}"
        if re.search(rf"{numeral}|{in_text}.{{0,9}}\b{name}|\b{name}\w*.{{0,9}}{in_text}", text, re.IGNORECASE):
            date_told = f"{year}-{rest[0]}"
            day = rf"(?<!\d)0?{rest[-1].lstrip('0')}(?!\d)"
            if rest[1:] and re.search(rf"{day}.{{0,15}}{in_text}|{in_text}.{{0,15}}{day}", text):
                date_told = date
    return date_told


def checked_date(date: object) -> str:
    """Return a date like `partial_date`, or "" for "". Raises InputError for an invalid date.

    `date`: a text, a year, or a value whose `str` is such a text: a date of Python, NumPy or pandas.
    """
    read = partial_date(str(date))
    if date and not read:
        raise InputError(f"{date!r} is no date.", "Give one such as 1912, 1912-03 or 1912-03-07.")
    return read


def may_precede(one: str, other: str) -> bool:
    """Return whether a date may be before or equal to another, at their common precision."""
    shared = min(len(one), len(other))
    return one[:shared] <= other[:shared]
