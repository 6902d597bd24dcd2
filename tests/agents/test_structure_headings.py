"""Sections that a question names by the words of their headings."""

import re
from collections.abc import Iterator

import pytest

from kgrag.agents.structure.headings import Headings, key_of
from kgrag.client import KnowledgeGraph
from kgrag.types import Document, Section

COLLECTION = "structure-headings"
TEXTS = {
    "Introduction": "Boats float.",
    "Care of oars": "Varnish the blades.",
    "Care of oars > Varnish": "Two coats of it.",
    "Rowing and sculling": "Rowers face backwards.",
    "Sails > Losses": "Three sails were lost.",
    "Hulls > Losses": "One hull was lost.",
    "3.2 Findings": "Whales like boats.",
    "Résumé of the year": "Much was rowed.",
    "Resume of the year": "Little was rowed.",
    "Ρότσα": "Anchors of Greece.",
    "研究概要": "A summary.",
    "Chapter One: Tar": "Tar is black.",
    "Appendix A: Knots": "Bowline and hitch.",
    "Rhythm": "Beat the drum.",
}


@pytest.fixture(scope="module")
def boats(kg: KnowledgeGraph) -> Iterator[str]:
    notes = {"Introduction": "Notes begin.", "Anchors": "Heavy."}
    kg.ingest(
        [
            Document("boats.md", tuple(Section(text, path) for path, text in TEXTS.items()), "Boats"),
            Document("notes.md", tuple(Section(text, path) for path, text in notes.items()), "Harbour notes"),
        ],
        COLLECTION,
    )
    yield COLLECTION
    kg.delete(COLLECTION)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what does section Rowing and sculling say", "Rowing and sculling"),
        ('What does the section "Rowing and sculling" contain?', "Rowing and sculling"),
        ("what does the section on rowing say", "Rowing and sculling"),
        ("the ROWING AND SCULLING section of Boats, please", "Rowing and sculling"),
        ("What does the Findings section say?", "3.2 Findings"),
        ("section 3.2 Findings", "3.2 Findings"),
        ("What does the section on Résumé of the year say?", "Résumé of the year"),
        ("What does the section on Resume of the year say?", "Resume of the year"),
        ("SECTION ΡΌΤΣΑ", "Ρότσα"),
        ("the section on 概要", "研究概要"),
        ("the chapter titled Tar", "Chapter One: Tar"),
        ("show chapter “Tar”", "Chapter One: Tar"),
        ("chapter one of boats.md", "Chapter One: Tar"),
        ("What does appendix A say?", "Appendix A: Knots"),
        ("What does the appendix say?", "Appendix A: Knots"),
        ("What is under the heading Varnish?", "Care of oars > Varnish"),
    ],
)
def test_a_heading_is_found_by_its_words(kg: KnowledgeGraph, boats: str, question: str, path: str) -> None:
    found = kg.look_up(question, boats)
    assert found is not None
    assert (found.text, found.content) == (f"{path.split(' > ')[-1]}\n\n{TEXTS[path]}", False)
    assert found.places[0].name == f"boats.md, {path}"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Show me the Losses section",
            r"Sails > Losses \(1 of 2\):\nLosses\n\nThree.*Hulls > Losses \(2 of 2\):\nLosses",
        ),
        ("what does the section Introduction of notes.md say", "Introduction\n\nNotes begin."),
        ("what does the introduction section say", "Which document is meant. There are boats.md, notes.md."),
        ("Where is the section on rowing?", "Rowing and sculling is in boats.md, which has no pages."),
        ("what does section Oarz say", 'No document has a section "Oarz". The nearest: Care of oars .boats.md.'),
        ("the section Ankers of notes.md", 'has 2 sections; there is no section "Ankers". The nearest: Anchors.'),
        ('What does the section "Coal" of notes.md say?', '"Coal". They are: Introduction, Anchors.'),
        ("What does the section on coal say?", 'No document has a section "coal".$'),
        ("What does the Anchors section of boats.md say?", 'boats.md has 13 sections; there is no section "Anchors"'),
    ],
)
def test_what_is_said_of_headings(kg: KnowledgeGraph, boats: str, question: str, said: str) -> None:
    found = kg.look_up(question, boats)
    assert found is not None
    assert re.search(said, found.text, re.S), found.text
    assert found.found is ("there is no" not in found.text and not found.text.startswith(("No doc", "Which")))


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ('summarise the chapter "Care of oars"', "Care of oars"),
        ("what does the section about care of oars say about ash?", "Care of oars"),
        ("In the Rowing and sculling section, where do rowers face?", "Rowing and sculling"),
        ("According to section Findings, what do whales like?", "3.2 Findings"),
        ("Which whales does the section on findings name?", "3.2 Findings"),
    ],
)
def test_content_is_read_under_the_heading(kg: KnowledgeGraph, boats: str, question: str, path: str) -> None:
    found = kg.look_up(question, boats)
    assert found is not None
    assert found.content
    assert {hit.why[0].name for hit in found.hits} <= {path, "Care of oars > Varnish"}
    assert found.text.startswith(path)


@pytest.mark.parametrize(
    "question",
    [
        "Who played in the rhythm section?",
        "Which section of the army crossed the river?",
        "When was the last section of the railway finished?",
        "What did the section chief say?",
        "What does the horn section contain?",
        "What is section control?",
        "How is the cross section of a beam computed?",
        "Which section on rowing and sculling is the deepest?",
        "Who wrote the chapter on whales in Moby Dick?",
        "What does the chapter on whales in Moby Dick say?",
        "What does chapter Nausicaa of Ulysses say?",
        "In Ulysses, what does the section on Dublin say?",
        "Which chapter of the Hells Angels is the oldest?",
        "Who is the chapter president?",
        "Who was heading the expedition?",
        "Who built the section on the rhythm?",
        "Why did the introduction of oars fail?",
        'Who wrote "Losses", the first section of the poem?',
    ],
)
def test_ordinary_questions_are_left_alone(kg: KnowledgeGraph, boats: str, question: str) -> None:
    assert kg.look_up(question, boats) is None


def test_which_heading_is_meant() -> None:
    """Letter by letter before without case and marks, whole headings before those that only hold the words."""
    headings = Headings(["OARS", "Oars", "Oars > Blades", "2. Care of oars", "Sails of linen", "Sails"])
    assert headings.find(key_of(["oars"]), "Oars") == ["Oars"]
    assert headings.find(key_of(["oars"]), "oArs") == ["OARS", "Oars"]
    assert headings.find(key_of(["care", "of", "oars"])) == ["2. Care of oars"]
    assert headings.find(key_of(["sails"])) == ["Sails"]
    assert headings.find(key_of(["linen"])) == ["Sails of linen"]
    assert headings.find(key_of(["blade"])) == ["Oars > Blades"]
    assert headings.find(key_of(["sail"])) == []  # two hold it
    assert headings.under("Oars") == ["Oars", "Oars > Blades"]
    assert headings.nearest(key_of(["sail"])) == ["Sails of linen", "Sails"]
