"""Texts in languages other than English: words, stems, names, and language detection."""

import pytest

from kgrag.indexing.detection import detect_language, first_language
from kgrag.indexing.statistics import statistics, terms
from kgrag.text.aliases import title_aliases
from kgrag.text.languages import ENGLISH, language_of
from kgrag.text.letters import fold
from kgrag.text.sentences import split_sentences
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import name_stems, normalise, question_stems, stems, tokens, words_of
from kgrag.values.documents import Document, Problem, Section
from tests.text.reading_names import known_names, phrases_of

GERMAN, RUSSIAN, CHINESE, FRENCH, ARABIC, SPANISH = map(language_of, ("de", "ru", "zh", "fr", "ar", "es"))


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("de", "Häuser", "Hauses"), ("de", "Straßen", "Straße"), ("fr", "chantaient", "chanter"),
        ("es", "canciones", "canción"), ("ru", "который", "которого"), ("ru", "Волковой", "Волкова"),
        ("ru", "ёлки", "елка"), ("ru", "Сомова", "Сомов"), ("de", "Petersens", "Petersen"), ("ar", "الكتاب", "كتاب"),
    ],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(code: str, one: str, other: str) -> None:
    language = language_of(code)
    assert stems(words_of(one, language), language) == stems(words_of(other, language), language)


def test_a_short_i_is_a_letter_of_its_own() -> None:
    assert fold("Чайка и Éva", RUSSIAN.letters) == "Чайка и Eva"
    assert fold("Чайка") == "Чаика"  # as in English collections
    assert normalise("Майский", RUSSIAN) == normalise("Майского", RUSSIAN)


def test_an_apostrophe_parts_french_words() -> None:
    assert words_of("L'eau de l’île d'Yeu", FRENCH) == ["l", "eau", "de", "l", "ile", "d", "yeu"]
    assert list(phrases_of(tokens("Il y a Jeanne d'Arc à Rouen.", FRENCH), FRENCH).values()) == [
        "Jeanne d'Arc",
        "Rouen",
    ]
    assert words_of("it's l'eau") == ["it", "leau"]


def test_chinese_is_searched_by_two_characters_and_named_by_one() -> None:
    stems = TokenisedPassage("海鹰号", "海鹰号在北湾。船长", language=CHINESE).stems().split()
    assert stems[:10] == ["海鹰", "鹰号", "号", "海鹰", "鹰号", "号在", "在北", "北湾", "湾", "船长"]
    assert normalise("海鹰号 Fram", CHINESE) == "海鹰号 fram"
    assert name_stems("海鹰号", CHINESE) == ["海鹰", "鹰号"]
    found = known_names(
        tokens("那艘海鹰号在北湾镇", CHINESE), {"海鹰号", "北湾", "北湾镇", "号"}.__contains__, language=CHINESE
    )
    assert found == {"海鹰号": [2], "北湾镇": [6]}  # the longest match, and no single characters
    assert question_stems("谁建造了海鹰号？", CHINESE)[:3] == ["建造", "海鹰", "鹰号"]
    assert set(terms(TokenisedPassage("", "海鹰号在北湾镇", language=CHINESE)).surfaces) == {
        "海鹰",
        "鹰号",
        "北湾",
        "湾镇",
    }
    assert len(split_sentences(TokenisedPassage("", "海鹰号。船长！北湾？", language=CHINESE).sentences())) == 3


def test_a_german_noun_behind_an_article_is_no_name() -> None:
    words = tokens("Sie sahen den alten Leuchtturm und Bergen am Fluss, Ole Brandt und die Kapitäne.", GERMAN)
    assert set(phrases_of(words, GERMAN).values()) == {"Bergen", "Ole Brandt"}
    passage = TokenisedPassage(
        "", "Er sah den Turm, einen roten Turm. Er kam nach Bergen, aus Bergen.", language=GERMAN
    )
    rows = {row["stem"]: (row["upper"], row["lower"]) for row in statistics("c", [passage], language=GERMAN)[0]}
    assert rows["turm"] == (0, 2)
    assert rows["berg"] == (2, 0)


def test_names_are_known_by_stems_where_they_are_inflected() -> None:
    assert normalise("Марию Волкову", RUSSIAN) == normalise("Мария Волкова", RUSSIAN) == "мар волк"
    assert normalise("Berlins", GERMAN) == normalise("Berlin", GERMAN)
    known = {normalise("Мария Волкова", RUSSIAN)}
    assert known_names(tokens("Письмо Марии Волковой", RUSSIAN), known.__contains__, language=RUSSIAN) == {
        "мар волк": [1]
    }
    aliases = {a.normal: a.weight for a in title_aliases("Die Sturmbraut", "", GERMAN)}
    assert aliases == {"die sturmbraut": 1.0, "sturmbraut": 0.9}


def test_several_languages_are_read_as_english_is() -> None:
    assert language_of("xx") is language_of("en") is ENGLISH


_LONG = {
    "de": "Der Kapitän des Schiffes fuhr mit seiner Mannschaft über das Meer und kam erst nach vielen Wochen zurück. ",
    "fr": "Le capitaine du navire traversa la mer avec son équipage et ne revint qu'après de longues semaines. ",
    "es": "El capitán del barco cruzó el mar con su tripulación y no volvió hasta después de muchas semanas. ",
    "ru": "Капитан корабля вышел в море со своей командой и вернулся только через много недель. ",
    "zh": "船长带着他的船员穿过大海，几个星期以后才回到港口，城里的人都来迎接他们。",
    "ar": "عبر قبطان السفينة البحر مع طاقمه ولم يعد إلا بعد أسابيع طويلة من الرحلة. ",
    "en": "The captain of the ship crossed the sea with his crew and came back only after many weeks. ",
}


@pytest.mark.parametrize("code", _LONG)
def test_the_language_is_found_out(code: str) -> None:
    assert detect_language([_LONG[code]] * 4) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("我们用PyTorch训练。GPU有8张，价格12000元。", "zh"), ("東京にあるGoogle社", "ja"), ("カタカナ", "ja"),
        ("서울은 수도이며 GPU를 산다", "ko"), ("กรุงเทพมหานคร", "th"), ("Η Αθήνα", "el"), ("ירושלים", "he"),
        ("The ship Yamato (大和) sank in 1945.", None), ("Larvik Tromsø", None), ("1 2 3 " * 500, None), ("", None),
    ],
)  # fmt: skip
def test_short_text_in_script_of_one_language_tells_it(text: str, code: str | None) -> None:
    assert detect_language([text]) == code


def test_first_language_passes_all_items_on() -> None:
    problem = Problem("x", "cannot be read")
    document = Document("a", (Section(_LONG["ru"] * 5),), "Капитан")
    items, language = first_language(iter([problem, document, problem]))
    assert language == "ru"
    assert list(items) == [problem, document, problem]
    assert first_language(iter([]), [_LONG["de"] * 4])[1] == "de"
