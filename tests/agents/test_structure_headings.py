"""Sections that a question names by words of their headings."""

import re
from collections.abc import Callable

import pytest

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

COLLECTION = "structure-headings"
TEXTS = {
    "Introduction": "Boats float.", "Care of oars": "Varnish the blades.",
    "Care of oars > Varnish": "Two coats of it.", "Rowing and sculling": "Rowers face backwards.",
    "Sails > Losses": "Three sails were lost.", "Hulls > Losses": "One hull was lost.",
    "3.2 Findings": "Whales like boats.", "Résumé of the year": "Much was rowed.",
    "Resume of the year": "Little was rowed.", "Ρότσα": "Anchors of Greece.", "研究概要": "A summary.",
    "Chapter One: Tar": "Tar is black.", "Appendix A: Knots": "Bowline and hitch.", "Rhythm": "Beat the drum.",
}  # fmt: skip


@pytest.fixture(scope="module")
def boats(fill: Callable[..., str]) -> str:
    notes = {"Introduction": "Notes begin.", "Anchors": "Heavy."}
    return fill(
        COLLECTION,
        [
            Document("boats.md", tuple(Section(text, path) for path, text in TEXTS.items()), "Boats"),
            Document("notes.md", tuple(Section(text, path) for path, text in notes.items()), "Harbour notes"),
        ],
    )


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what does section Rowing and sculling say", "Rowing and sculling"),
        ('What does the section "Rowing and sculling" contain?', "Rowing and sculling"),
        ("what does the section on rowing and sculling say", "Rowing and sculling"),
        ("the ROWING AND SCULLING section of Boats, please", "Rowing and sculling"),
        ("What does the Findings section say?", "3.2 Findings"), ("section 3.2 Findings", "3.2 Findings"),
        ("What does the section on Résumé of the year say?", "Résumé of the year"),
        ("What does the section on Resume of the year say?", "Resume of the year"), ("SECTION ΡΌΤΣΑ", "Ρότσα"),
        ("the section on 研究概要", "研究概要"), ("the chapter titled Tar", "Chapter One: Tar"),
        ("show chapter “Tar”", "Chapter One: Tar"), ("chapter one of boats.md", "Chapter One: Tar"),
        ("What does appendix A say?", "Appendix A: Knots"),
        ("What is under the heading Varnish?", "Care of oars > Varnish"),
    ],
)  # fmt: skip
def test_a_heading_is_found_by_its_words(kg: KnowledgeGraph, boats: str, question: str, path: str) -> None:
    found = kg[boats].look_up(question)
    assert found is not None
    assert (found.text, found.content) == (f"{path.split(' > ')[-1]}\n\n{TEXTS[path]}", False)
    assert found.places[0].name == f"boats.md, {path}"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Show me the Losses section", r"Sails > Losses:\nLosses\n\nThree.*Hulls > Losses:\nLosses"),
        ("what does the section Introduction of notes.md say", "Introduction\n\nNotes begin."),
        (
            "what does the introduction section say",
            "Which document is meant. There are boats.md .13 sections., notes.md .2 sections..",
        ),
        ("the section Ankers of notes.md", 'has 2 sections; there is no section "Ankers".$'),
        ('What does the section "Coal" of notes.md say?', 'there is no section "Coal".$'),
        ("What does the Anchors section of boats.md say?", 'boats.md has 13 sections; there is no section "Anchors"'),
    ],
)
def test_what_is_said_of_headings(kg: KnowledgeGraph, boats: str, question: str, said: str) -> None:
    found = kg[boats].look_up(question)
    assert found is not None
    assert re.search(said, found.text, re.S), found.text
    assert found.found is ("there is no" not in found.text and not found.text.startswith("Which"))


@pytest.mark.parametrize(
    "question",
    [
        "Who played in the rhythm section?", "Which section of the army crossed the river?",
        "When was the last section of the railway finished?", "What did the section chief say?",
        "What does the horn section contain?", "What is section control?",
        "How is the cross section of a beam computed?", "Which section on rowing and sculling is the deepest?",
        "Who wrote the chapter on whales in Moby Dick?", "What does the chapter on whales in Moby Dick say?",
        "What does chapter Nausicaa of Ulysses say?", "In Ulysses, what does the section on Dublin say?",
        "Which chapter of the Hells Angels is the oldest?", "Who is the chapter president?",
        "Who was heading the expedition?", "Who built the section on the rhythm?",
        'What does section "Oarz" say?', "Why did the introduction of oars fail?",
        'Who wrote "Losses", the first section of the poem?',
    ],
)  # fmt: skip
def test_ordinary_questions_are_left_alone(kg: KnowledgeGraph, boats: str, question: str) -> None:
    assert kg[boats].look_up(question) is None
