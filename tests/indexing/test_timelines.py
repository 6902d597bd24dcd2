"""The validity of facts: one ends another only if one is valid at a time, and their order is certain."""

import random

import pytest

from kgrag.indexing.timelines import timeline
from kgrag.text.dates import partial_date

# A fact: object, since, until, date of the document. A history: its facts, then the expected result.
HISTORIES: dict[str, tuple[str, str]] = {
    # facts with since and until
    "offices in a row": ("A 1998 2005 | B 2005 2021", "A 1998 2005 | B 2005 2021"),
    "an office that is held": ("A 1998 2005 | B 2005 -", "A 1998 2005 | B 2005 -"),
    "a gap between two": ("A 1990 1995 | B 2000 2004", "A 1990 1995 | B 2000 2004"),
    "a gap after which nobody is known": ("A 1990 1995", "A 1990 1995"),
    "the same again": ("A 1990 1995 | B 1995 1999 | A 1999 -", "A 1990 1995 | B 1995 1999 | A 1999 -"),
    "twice with a gap": ("A 1990 1995 | A 2001 2003", "A 1990 1995 | A 2001 2003"),
    "days": ("A 2010-01-31 2012-03-01 | B 2012-03-01 -", "A 2010-01-31 2012-03-01 | B 2012-03-01 -"),
    "stated twice": ("A 1990 1995 1991 | A 1990 1995 2001", "A 1990 1995"),
    # ends from the next beginning
    "an end by the next": ("A 1998 - | B 2005 -", "A 1998 2005 | B 2005 -"),
    "three in a row": ("A 1998 - | B 2005 - | C 2009 -", "A 1998 2005 | B 2005 2009 | C 2009 -"),
    "in another order": ("C 2009 - | A 1998 - | B 2005 -", "A 1998 2005 | B 2005 2009 | C 2009 -"),
    "months": ("A 2010-05 - | B 2010-09 -", "A 2010-05 2010-09 | B 2010-09 -"),
    "a day and a year": ("A 2010-05-01 - | B 2012 -", "A 2010-05-01 2012 | B 2012 -"),
    "there and back": ("A 1998 - | B 2005 - | A 2009 -", "A 1998 2005 | B 2005 2009 | A 2009 -"),
    "an end of its own before the next": ("A 1998 2001 | B 2005 -", "A 1998 2001 | B 2005 -"),
    # an uncertain order ends nothing
    "both in one year": ("A 2010 - | B 2010 -", "A 2010 - | B 2010 -"),
    "a year and a month of it": ("A 2010 - | B 2010-05 -", "A 2010 - | B 2010-05 -"),
    "a third after both": ("A 2010 - | B 2010-05 - | C 2011 -", "A 2010 2011 | B 2010-05 2011 | C 2011 -"),
    "no dates at all": ("A - - | B - -", "A - - | B - -"),
    "one without a date": ("A - - | B 2010 -", "A - - | B 2010 -"),
    "one without a date and two with": ("A - - | B 2005 - | C 2010 -", "A - - | B 2005 2010 | C 2010 -"),
    "two that contradict each other": ("A 2000 2010 | B 2005 2015", "A 2000 2010 | B 2005 2015"),
    "one within the other": ("A 2000 2010 | B 2003 2004", "A 2000 2010 | B 2003 2004"),
    # dates of documents
    "prices": ("5 - - 2010-01-01 | 7 - - 2011-01-01", "5 - - | 7 - -"),
    "a price that comes again": ("5 - - 2010-01-01 | 7 - - 2011-01-01 | 5 - - 2012-01-01", "5 - - | 7 - -"),
    "stated, then since": ("A - - 2010-03-01 | B 2012 -", "A - - | B 2012 -"),
    "stated again without its year": ("A 1861 - | A - - | A - - 1990-01-01", "A 1861 -"),
    "what was, in a later text": ("5 2010 - 2011-01-01 | 2 - - 2020-05-01", "5 2010 - | 2 - -"),
    "the newest text says since": ("A - - 2015-01-01 | B 2012 - 2018-01-01", "A - - | B 2012 -"),
    "two texts that disagree": ("A 2010 - 2018-01-01 | B 2012 - 2015-01-01", "A 2010 - | B 2012 -"),
    "the newer text of two": ("A 2010 - 2015-01-01 | B 2012 - 2018-01-01", "A 2010 2012 | B 2012 -"),
    "stated within what lasts": ("A 2000 2010 | A - - 2005-01-01", "A 2000 2010"),
    "stated after what lasts": ("A 2000 - | A - - 2005-01-01", "A 2000 -"),
    "stated when another one held": ("A 2000 - | B 2003 - | A - - 2005-01-01", "A 2000 2003 | B 2003 - | A - -"),
    "a later document on what is over": ("A - 2005 2020-01-01 | B 2005 -", "A - 2005 | B 2005 -"),
    "an older document than the facts": ("A 2000 - 1999-01-01", "A 2000 -"),
    "stated before it ended": ("A - 2005 2003-01-01 | B 2005 -", "A - 2005 | B 2005 -"),
    "stated on one day by two": ("A - - 2010-01-01 | B - - 2010-01-01", "A - - | B - -"),
    # an end is not the beginning of the next
    "a beginning by the end before": ("A 1990 2000 | B - 2005", "A 1990 2000 | B - 2005"),
    "two ends": ("A - 1970 | B - 1980", "A - 1970 | B - 1980"),
    # since and until from two texts
    "since, until, and the next since": ("A 1999 - | A - 2003 | B 2006 -", "A 1999 2003 | B 2006 -"),
    "since and until, another between": ("A 1999 - | B 2001 - | A - 2003", "A 1999 2001 | B 2001 - | A - 2003"),
    "since, and both": ("A 1999 - | A 1999 2003 | A - 2003", "A 1999 2003"),
    "until, before it began again": ("A 1999 - | A - 1990", "A 1999 - | A - 1990"),
    "who stands in ends nothing": ("A 2000 - | B 2003 2005", "A 2000 - | B 2003 2005"),
    "the next after a stand-in": ("A 2000 - | B 2003 2005 | C 2007 -", "A 2000 2007 | B 2003 2005 | C 2007 -"),
    # names
    "names of a city": ("Kristiania 1877 1925 | Oslo 1925-01-01 -", "Kristiania 1877 1925 | Oslo 1925-01-01 -"),
    "a name that came back": (
        "Petersburg 1703 1914 | Petrograd 1914 1924 | Leningrad 1924 1991 | Petersburg 1991 -",
        "Petersburg 1703 1914 | Petrograd 1914 1924 | Leningrad 1924 1991 | Petersburg 1991 -",
    ),
}


def _facts(history: str) -> list[dict[str, object]]:
    facts: list[dict[str, object]] = []
    for i, part in enumerate(history.split(" | ")):
        name, since, until, *dated = part.split()
        dates = {"valid_from": since, "valid_to": until, "stated_at": "".join(dated)}
        known = {key: None if date in ("-", "") else date for key, date in dates.items()}
        facts.append({"id": str(i), "object": name, "name": name, "passages": [f"p{i}"], **known})
    return facts


@pytest.mark.parametrize("name", HISTORIES)
def test_histories(name: str) -> None:
    rows, expected = HISTORIES[name]
    for seed in range(5):
        facts = _facts(rows)
        random.Random(seed).shuffle(facts)
        periods = timeline(facts, one=True)
        shown = sorted(f"{p.object} {p.valid_from or '-'} {p.valid_to or '-'}" for p in periods)
        assert shown == sorted(expected.split(" | "))
        assert sorted(fact for p in periods for fact in p.facts) == sorted(str(f["id"]) for f in facts)


def test_where_there_may_be_several_none_ends_another() -> None:
    periods = timeline(_facts("A 1998 - | B 2005 - | A - - 2003-01-01"), one=False)
    assert [(p.object, p.valid_from, p.valid_to) for p in periods] == [("A", "1998", ""), ("B", "2005", "")]
    undated = {"facts": ["0", "2"], "passages": ["p0", "p2"], "stated_at": "2003-01-01"}
    assert periods[0].properties() == {"valid_from": "1998", **undated}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1912", "1912"), ("1912-3", "1912-03"), (" 1912-03-07 ", "1912-03-07"), ("1912-03-07T10:00:00Z", "1912-03-07"),
        ("1912-02-30", ""), ("1912-13", ""), ("0000", ""), ("12", ""), ("in 1912", ""), ("", ""), ("null", ""),
    ],
)  # fmt: skip
def test_dates_are_as_precise_as_they_are_written(text: str, date: str) -> None:
    assert partial_date(text) == date
