"""Words and names are found next to other scripts, signs and spellings, in every language."""

from itertools import product

import pytest

from kgrag.text.languages import language_of
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import normalise, question_stems, tokens
from tests.text.reading_names import known_names, phrases_of

LANGUAGES = "ar bn ca cs da de el en es fa fi fr he hi hu it ja ko nl pl pt ru sr sv ta th tr uk vi xx zh".split()
OTHERS = "北京 東京 カタカナ 수도 平壤 กรุงเทพ ລາວ မြန်မာ ភ្នំពេញ ירושלים القاهرة دلی दिल्ली தமிழ் 佐々木 𠮷野家".split()
LATIN = "PyTorch GPU 12000 Reykjavík".split()


@pytest.mark.parametrize("code", LANGUAGES)
def test_words_of_two_scripts_are_found_without_space_between(code: str) -> None:
    language = language_of(code)
    for other, latin in product(OTHERS, LATIN):
        for text in (f"{other}{latin}", f"{latin}{other}", f"{other}{latin}{other}, {latin}{other}。"):
            there = set(TokenisedPassage("", text, language=language).stems().split())
            for question in (other, latin):
                asked = question_stems(question, language)
                assert asked and set(asked) - set(question) <= there, (text, question)


@pytest.mark.parametrize("code", ["ko", "en", "xx", "ja"])
def test_korean_noun_is_found_with_any_particle(code: str) -> None:
    language = language_of(code)
    asked = set(question_stems("서울", language))
    for text in ("서울은 수도이며", "서울에서 살았다", "그는 서울을 떠났다", "서울과 부산"):
        assert "서울" in asked & set(TokenisedPassage("", text, language=language).stems().split())
    known = {"서울", "서울특별시"}
    words = tokens("동서울은 아니고 서울은 수도, 서울특별시의 GPU를", language)
    assert known_names(words, known.__contains__, language=language) == {"서울": [7], "서울특별시": [12]}
    assert "gpu" in phrases_of(words, language)


@pytest.mark.parametrize("sign", "'’‘ʻʼʾꞌ′´")
def test_signs_typed_for_an_apostrophe_are_one(sign: str) -> None:
    word = f"Hawai{sign}i"
    assert question_stems(word) == ["hawaii"] == question_stems("Hawaii")
    assert normalise(f"{word} Island") == "hawaii island"
    assert phrases_of(tokens(f"on {word} Island"))["hawaii island"] == f"{word} Island"


def test_leading_okina_begins_a_name() -> None:
    assert phrases_of(tokens("in the ʻIolani Palace")) == {"iolani palace": "ʻIolani Palace"}
    assert question_stems("Iolani") == question_stems("ʻIolani")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("the pair Simon & Garfunkel sang", {"Simon & Garfunkel", "Garfunkel"}),
        ("the pair Simon and Garfunkel sang", {"Simon and Garfunkel", "Simon", "Garfunkel"}),
        ("old Garfunkel sang", {"Garfunkel"}),
        ("he and & Garfunkel", {"Garfunkel"}),
        ("from Marks & Spencer", {"Marks & Spencer", "Spencer"}),
        ("by Marks&Spencer Ltd", {"Marks&Spencer Ltd"}),
        ("at Texas A&M University", {"Texas A&M University"}),
        ("the film Romeo + Juliet", {"Romeo + Juliet", "Juliet"}),
    ],
)
def test_sign_joins_names_and_sticks_to_none(text: str, names: set[str]) -> None:
    phrases = phrases_of(tokens(text))
    assert set(phrases.values()) == names
    assert all(normalise(surface) == normal for normal, surface in phrases.items())


def test_known_part_of_a_joined_name_is_found() -> None:
    words = tokens("the pair Simon & Garfunkel, then old & Garfunkel; AT&T")
    assert known_names(words, {"garfunkel", "t"}.__contains__) == {"garfunkel": [3, 6]}
    assert known_names(words, {normalise("Simon & Garfunkel"), normalise("AT&T")}.__contains__) == {
        "simon &garfunkel": [2],
        "at &t": [7],
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E1042", "E-1042"), ("CVN65", "CVN-65"), ("RFC2616", "RFC 2616"), ("4023057", "KB4023057"),
        ("9783161484100", "978-3-16-148410-0"), ("080442957X", "0-8044-2957-X"), ("5551234567", "555-123-4567"),
        ("4722855050", "+47 22 85 50 50"), ("5km", "5 km"), ("3.5GHz", "3.5 GHz"), ("ISO88591", "ISO-8859-1"),
        ("1000", "1,000"),
        ("Wasserfall", "Was\u00adser\u00adfall"), ("كتاب", "كتـــاب"), ("3", "३"), ("e1042", "E–1042"),
    ],
)  # fmt: skip
def test_spellings_of_a_code_or_number_find_each_other(one: str, other: str) -> None:
    for question, text in ((one, other), (other, one)):
        there = set(TokenisedPassage("", f"The item {text} broke.").stems().split())
        assert there & set(question_stems(question)), (question, text)


@pytest.mark.parametrize(
    "text", ["in the mid-1990s", "from 1939-1945 on", "on 2024-05-31", "IN 1912 he", "2nd of 12-13"]
)
def test_years_and_dates_are_no_codes(text: str) -> None:
    words = set(TokenisedPassage("", text).symbols)
    assert not any(word.strip("~").isalnum() and not word.startswith("~") for word in words), words
