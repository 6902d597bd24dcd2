"""Chunks of documents, computed by hand: sections reach the limits and never exceed them."""

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from

from kgrag.indexing.chunking import chunk, count_tokens
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Section, Table

PIECES = f"Fram Console.WriteLine a!=b https://example.org/Log.Html?x=1 船は出た。 it. Oslo.The {'x' * 60}".split()
GAPS = (" ", "\n", "\n\t", "  ", "\n\n    ", "\n \n")
TEXT = "One two three. Four five six. Seven eight nine."  # three times four tokens


def texts(whole: int, passage: int, *sections: Section, **more: object) -> list[tuple[str, str, int]]:
    document = Document("a", sections or (Section(TEXT),), **more)  # type: ignore[arg-type]
    settings = IndexingSettings().model_copy(update={"whole_tokens": whole, "passage_tokens": passage})
    return [(c.text, c.section, c.tokens) for c in chunk(document, settings)]


def test_tokens() -> None:
    assert count_tokens("The Fram's crew: 13 men.") == 9
    assert count_tokens("x" * 25) == 2
    assert count_tokens("船は 出た") == 4


@pytest.mark.parametrize(
    ("whole", "passage", "cut"),
    [
        (12, 4, [TEXT]),
        (11, 8, ["One two three. Four five six.", "Seven eight nine."]),
        (11, 7, ["One two three.", "Four five six.", "Seven eight nine."]),
        (11, 11, ["One two three. Four five six.", "Seven eight nine."]),
        (11, 3, ["One two three", ".", "Four five six", ".", "Seven eight nine", "."]),
    ],
)
def test_a_document_is_cut_between_sentences(whole: int, passage: int, cut: list[str]) -> None:
    found = texts(whole, passage)
    assert [text for text, _, _ in found] == cut
    assert [tokens for _, _, tokens in found] == [count_tokens(text) for text in cut]


@given(pieces=lists(sampled_from(PIECES), min_size=1), gaps=lists(sampled_from(GAPS), min_size=1), limit=integers(1, 9))
def test_passages_are_parts_of_the_text_as_it_stands(pieces: list[str], gaps: list[str], limit: int) -> None:
    text = "".join(part for pair in zip(pieces, cycle(gaps), strict=False) for part in pair)
    place = 0
    for part, _, tokens in texts(1, limit, Section(text)):
        start = text.index(part, place)
        assert text[place:start].strip() == ""
        assert tokens == count_tokens(part) <= limit
        place = start + len(part)
    assert text[place:].strip() == ""


def test_sections_stand_under_their_headings() -> None:
    ship, crew = Section("It sailed far.", "Ship"), Section("Ten men.", "Ship > Crew")
    assert texts(50, 10, ship, crew) == [("Ship\n\nIt sailed far.\n\nCrew\n\nTen men.", "", 9)]
    assert texts(50, 10, ship) == [("It sailed far.", "Ship", 4)]
    assert texts(8, 8, ship, crew) == [("Ship\n\nIt sailed far.", "Ship", 5), ("Crew\n\nTen men.", "Ship > Crew", 4)]
    assert texts(8, 9, ship, crew) == [("Ship\n\nIt sailed far.\n\nCrew\n\nTen men.", "Ship", 9)]


def test_lines_and_what_stands_within_words_stay_in_long_texts() -> None:
    code = "Set spring.Datasource.Url=jdbc:h2. Call it:\n    first();\n    second!=Third\n\n    last()"
    assert [text for text, _, _ in texts(1, 60, Section(code))] == [code]


def test_paragraphs_stay_apart_and_empty_ones_are_nothing() -> None:
    paragraphs = Section("One two.\n\nThree four. Five six.\n\n \n\nSeven eight nine ten.")
    assert [text for text, _, _ in texts(5, 9, paragraphs)] == [
        "One two.\n\nThree four. Five six.",
        "Seven eight nine ten.",
    ]
    assert texts(5, 9, Section("  \n ")) == []


def test_rows_of_a_table_name_their_columns() -> None:
    table = Table(3, (("Ship", "Built"), ("Fram", "1892"), ("", ""), ("Gjøa", "")), "Fleet")
    assert texts(50, 8, Section("Text."), tables=(table,))[1:] == [
        ("Fleet\nShip: Fram; Built: 1892.", "Fleet", 9),
        ("Fleet\nShip: Gjøa.", "Fleet", 5),
    ]
    assert texts(50, 20, Section("Text."), tables=(table,))[1:] == [
        ("Fleet\nShip: Fram; Built: 1892.\nShip: Gjøa.", "Fleet", 13)
    ]
