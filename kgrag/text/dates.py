"""Dates as precise as a text gives them: 1999, 1999-05 or 1999-05-17, which compare as far as both go."""

import datetime
import re

from kgrag.values.errors import InputError

_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?(?:[T ].*)?")


def partial_date(text: str) -> str:
    """Return a date of ISO 8601, of which month and day may be missing, in its standard form; empty for none."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return ""
    numbers = [int(part) for part in match.groups() if part]
    try:
        datetime.date(*numbers, *[1] * (3 - len(numbers)))
    except ValueError:
        return ""
    return "-".join([match[1], *(f"{number:02}" for number in numbers[1:])])


def checked_date(text: str) -> str:
    """Return a date as `partial_date` does, "" for "". Raises InputError for an invalid one."""
    date = partial_date(text)
    if text and not date:
        raise InputError(f"{text!r} is no date.", "Give one such as 1912, 1912-03 or 1912-03-07.")
    return date


def may_precede(one: str, other: str) -> bool:
    """Return whether a date may lie before another or be the same, as far as both are precise."""
    shared = min(len(one), len(other))
    return one[:shared] <= other[:shared]
