"""Which spellings are the same name, and which differences a search ignores."""

import itertools
import unicodedata
from collections.abc import Iterator

import pytest

from kgrag.text.languages import language_of
from kgrag.text.letters import fold
from kgrag.text.tokens import name_stems, normalise, search_form, symbols, tokens, words_of
from tests.text.reading_names import known_names, phrases_of

APART = [
    ("1.5", "15", "1,5", "1/5", "1:5", "-1.5", "+1.5", "1.5%", "$1.5", "€1.5", "~1.5", "1.5°", "<1.5", "1 5", "#1.5"),
    ("5", "-5", "+5", "±5", "5%", "5‰", "5°", "$5", "€5", "£5", "¥5", "<5", ">5", "≥5", "#5"),
    ("C", "C++", "C#", "C*", "C+", "C♯", "C&"),
    ("Java 1.7", "Java 17", "Java -17", "Java 1 7", "Java 1:7"),
    ("Qt 5.1", "Qt 51", "Qt 5.10", "Qt 5 1"), ("2.0.1", "20.1", "2.01", "201", "2 0 1"), ("v1.2", "v12", "v1 2"),
    ("1e-5", "1e5", "1e+5"), ("10:30", "1030", "10 30", "10/30", "10-30"), ("AT&T", "ATT", "AT T", "AT+T"),
    ("St. John's", "St. John", "St. Johns"), ("Na", "Na+", "Na⁺"), ("Cl", "Cl−", "Cl⁻"),
    ("Fe2+", "Fe3+", "Fe2", "Fe 2+"), ("H2O", "H₂O", "H 2O"), ("x2", "x²", "x 2"),
    ("foo_bar", "foobar", "foo bar"),
    ("Node.js", "Node js"), ("ASP.Net", "ASP Net"),
    ("Müller", "Muller", "Mueller"), ("Malmö", "Malmø", "Malmo"), ("Åre", "Are", "Ære"), ("Peña", "Pena"), ("ça", "ca"),
    ("й", "и"), ("Ёлка", "Елка"), ("їжак", "іжак"),  # Cyrillic
    ("ή", "η", "ᾐ"),  # Greek
    ("パリ", "バリ", "ハリ"), ("ガス", "カス"), ("がき", "かき"),  # kana
    ("हिन्दी", "हन्दी", "हान्दी", "हिन्द"),  # Devanagari
    ("কি", "কী", "ক"), ("ก่า", "ก้า", "กา"), ("தமிழ்", "தமிழ"),
    ("كَتب", "كُتب"), ("שָׁ", "שֶׁ"), ("가", "각", "까"), ("ខ្មែរ", "ខ្មរ"),
]  # fmt: skip
ONE = [
    ("Oslo", "OSLO", "oslo", " Oslo ", "“Oslo”", "(Oslo)"),
    ("Jean-Luc", "Jean‐Luc", "Jean‑Luc", "Jean–Luc", "Jean−Luc", "Jean Luc"),
    ("1990-1995", "1990–1995", "1990‐1995", "1990−1995"),
    ("-5", "−5"),
    ("ABC 1.5", "ＡＢＣ　１．５", "abc 1.5"),
    ("ガス", "ｶﾞｽ"), ("パリ", "ﾊﾟﾘ"),
    ("Oslo.The ship", "Oslo. The ship"), ("Plan 1940.He left", "Plan 1940. He left"),
    ("U.S.", "US"), ("R. G. Collingwood", "R.G. Collingwood"),
    ("O'Brien", "O’Brien", "OBrien"),
    ("St. John's", "St. John’s", "ST. JOHN'S", "St John's"),
    ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"), ("film", "ﬁlm"),
    ("AT&T", "at&t"), ("C++", "c++"), ("20 °C", "20°C"),
]  # fmt: skip


@pytest.mark.parametrize("names", APART, ids=lambda names: names[0])
def test_names_that_differ_are_two(names: tuple[str, ...]) -> None:
    for one, other in itertools.combinations(names, 2):
        assert normalise(one) != normalise(other), (one, other)
        assert normalise(f"Unit {one} of Oslo") != normalise(f"Unit {other} of Oslo"), (one, other)


@pytest.mark.parametrize("names", ONE, ids=lambda names: names[0])
def test_names_that_differ_in_nothing_that_counts_are_one(names: tuple[str, ...]) -> None:
    assert len({normalise(name) for name in names}) == 1
    composed = {normalise(unicodedata.normalize(form, name)) for name in names for form in ("NFC", "NFD")}
    assert len(composed) == 1


def _made() -> Iterator[tuple[str, str]]:
    """Return pairs of names that differ by one letter, digit or sign."""
    for i in range(60):
        yield f"Qt {i}.1", f"Qt {i}1"
        yield f"Model {i}-A", f"Model {i}A"
        yield f"C{i}H{i + 1}", f"C{i}H{i + 2}"
        yield f"${i}.50", f"€{i}.50"
        yield f"{i}.50", f"{i}50"
        yield f"-{i}", f"{i}"
        yield f"{i}%", f"{i}"
        yield f"Fe{i}+", f"Fe{i}"
        yield f"{i}:05", f"{i}05"
        yield f"{i}/12/2020", f"{i}1/2/2020"
        yield f"RFC {i},5", f"RFC {i}5"
    scripts = "latin αβγδεζηθ абвгдежз אבגדהוזח ابتثجحخد कखगघङचछज กขคงจฉชซ 가나다라마바사 あいうえおかき"
    for script in scripts.split():
        for one, other in itertools.permutations(script, 2):
            yield f"{one}{one}{other}", f"{one}{other}{other}"


def test_a_letter_a_digit_or_a_sign_makes_two() -> None:
    pairs = list(_made())
    assert len(pairs) > 1000
    assert [pair for pair in pairs if normalise(pair[0]) == normalise(pair[1])] == []


def test_a_name_is_written_with_its_signs() -> None:
    found = phrases_of(tokens("They wrote Turbo C++ and Visual C# for IBM's Hitchhiker's Guide in Oslo."))
    assert found["turbo c++"] == "Turbo C++"
    assert found["visual c#"] == "Visual C#"
    assert found["oslo"] == "Oslo"


@pytest.mark.parametrize(
    ("text", "known", "names"),
    [
        ("They came to St. John's in May.", {"st john's", "st john"}, {"st john's"}),
        ("It was St. John's idea.", {"st john"}, {"st john"}),
        ("We met Scott's men.", {"scott"}, {"scott"}),
        ("He knows C++ and Turbo C#.", {"turbo c", "turbo c++"}, set()),
        ("It runs Java 1.7 there.", {"java 17"}, set()),
        ("It runs Java 1.7.", {"java 1.7"}, {"java 1.7"}),
    ],
)
def test_a_text_names_what_it_writes(text: str, known: set[str], names: set[str]) -> None:
    assert set(known_names(tokens(text), known.__contains__)) == names


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Sacré-Cœur", "Sacre-Coeur"), ("Ægir", "AEgir"), ("ﬁlm", "film"), ("Łódź", "Lodz"), ("Þórr", "THorr"),
        ("ǿ", "o"),
        ("Đorđe", "Dorde"), ("Straße", "Strasse"), ("ŋ", "n"), ("ı", "i"), ("Linux™", "Linux "),
        ("パリ", "パリ"), ("हिन्दी", "हिन्दी"),
        ("Ёлка", "Елка"), ("أَحْمَد", "احمد"), ("שָׁלוֹם", "שלום"), ("Ἀθῆναι", "Αθηναι"), ("ĳ", "ij"), ("ƒ", "f"),
        ("ฺก่", "ฺก่"),
    ],
)  # fmt: skip
def test_a_search_looks_past_diacritics(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_a_search_takes_numbers_as_they_are() -> None:
    assert words_of("Version 12.3 and 1.23 of U.S. Node.js") == ["version", "12.3", "and", "1.23", "of", "us", "nodejs"]
    assert search_form("St. John's, C++ in Tromsø") == "st john c in tromso"
    assert name_stems(normalise("C++ Ships")) == ["c", "ship"]


@pytest.mark.parametrize(
    ("text", "language", "extra"),
    [
        ("1,000 waterfalls", "en", ["1000"]), ("1.000 Wasserfälle", "de", ["1000"]), ("1.000 waterfalls", "en", []),
        ("1 000 m, 12 345 678", "fr", ["1000"]), ("1’234’567 francs", "en", ["1234567"]),
        ("in 1998 200 people", "en", []), ("100 200 300 400", "en", []),
        ("WF-M5799DWF", "en", ["~m5799dwf", "~m5799", "~5799dwf"]), ("M5799", "en", ["~m5799", "5799"]),
        ("mp3 and H2O in 1998", "en", []),
    ],
)  # fmt: skip
def test_what_a_number_or_a_code_is_searched_by_besides(text: str, language: str, extra: list[str]) -> None:
    assert [word for word in symbols(text, language) if word.lstrip("~").isalnum()] == extra


def test_stems_stand_for_words_of_letters_alone() -> None:
    german = language_of("de")
    assert normalise("Häuser am Meer 1.5", german) == "haus am meer 1.5"
    assert normalise("C++", german) != normalise("C", german)
