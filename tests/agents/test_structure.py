"""Structural questions are answered by a look-up; questions about content are left to the strategies."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner
from scripted import Scripted
from shelf import PLACES, manual, minutes, page_text, report

from kgrag import KnowledgeGraph
from kgrag.agents.lookup import Lookup
from kgrag.cli import main
from kgrag.values.documents import Document, Page, Section, Table
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Called, StructureLookup
from kgrag.values.results import Filter

pytestmark = pytest.mark.long

SOLO, SHELF, PLAIN = "structure-solo", "structure-shelf", "structure-plain"
REPORT = report()
TABLES = {t.number: t for t in REPORT.tables}


def markdown(number: int) -> str:
    table = TABLES[number]
    return f"{table.caption}\n\n{table.markdown}" if table.caption else table.markdown


def page(number: int) -> str:
    tables = [markdown(t.number) for t in REPORT.tables if t.page <= number <= t.last_page]
    return "\n\n".join([page_text(PLACES[number - 1], number), *tables])


@pytest.fixture(scope="module")
def solo(fill: Callable[..., str]) -> str:
    return fill(SOLO, [REPORT])


@pytest.fixture(scope="module")
def shelf(fill: Callable[..., str]) -> str:
    other = replace(report("in/annual 2020.pdf", "Annual Report 2020", 4, 1), metadata={"year": 2020})
    return fill(SHELF, [REPORT, manual(), minutes(), other, Document("notes.txt", (Section("No pages here."),))])


@pytest.fixture(scope="module")
def plain(fill: Callable[..., str]) -> str:
    return fill(PLAIN, [Document("notes.txt", (Section("The page on the table was blank."),), "Notes")])


def found(kg: KnowledgeGraph, question: str, collection: str, filter: Filter | None = None) -> Lookup:
    lookup = kg[collection].look_up(question, filter=filter)
    assert lookup is not None, question
    return lookup


STRUCTURAL = {
    **dict.fromkeys(
        (
            "page 3|Page 3?|What does page 3 say?|What is on page 3|Show me page 3, please|"
            "give me the text of page 3|Tell me what's on p. 3|p.3|pg 3|page no. 3|Page number 3|page #3|"
            "page three|read me page three pls|the third page|3rd page of the document|"
            "What can I read on page 3 of report.pdf?|In the Harbour Report, what does page 3 say?|Page ３|"
            "Please print slide 3"
        ).split("|"),
        page(3),
    ),
    **dict.fromkeys("What does the last page say?|the final page|page 12's content".split("|"), page(12)),
    "the penultimate page": page(11),
    "the first page of the report": page(1),
    **dict.fromkeys(
        (
            "table 2|Show table 2|What does Table 2 contain?|Give me the second table|table no 2|"
            "table two in report.pdf|table 2 on page 5|page 5, table 1|Page 6/Table 2|tables on page 6|Table II|"
            "table two on page 5"
        ).split("|"),
        markdown(2),
    ),
    "the table on page 3": markdown(1),
    "Which tables are on page 3?": markdown(1),
    **dict.fromkeys("Table on Page 7|page 7's table|the last table".split("|"), markdown(3)),
    "How many pages are there?": "report.pdf has 12 pages.",
    "How many pages does report.pdf have?": "report.pdf has 12 pages.",
    "How many tables are in the harbour report?": "report.pdf has 3 tables.",
    "how many tables does this document contain in total": "report.pdf has 3 tables.",
    "How many tables are on page 5?": "report.pdf has 1 table on page 5.",
    "How many tables are there on the last page?": "report.pdf has no tables on page 12.",
    "how many sections are there": "report.pdf has 4 sections.",
}
PARTS = {
    "pages 2 to 4": [page(2), page(3), page(4)], "pages 2-3": [page(2), page(3)], "pp. 2-3": [page(2), page(3)],
    "sec. 4": [page_text(PLACES[10], 11), page_text(PLACES[11], 12)],
    "section IV": [page_text(PLACES[10], 11), page_text(PLACES[11], 12)],
    "What do pages 1 and 12 say?": [page(1), page(12)], "tables 1 and 3": [markdown(1), markdown(3)],
    "Page 1 and Table 2 of report.pdf": [page(1), markdown(2)], "Table 2 and page 1": [page(1), markdown(2)],
    "page 1, and the table 2": [page(1), markdown(2)],
    "What does section 4 say?": [page_text(PLACES[10], 11), page_text(PLACES[11], 12)],
    "section 3": [page_text(PLACES[4], 5), page_text(PLACES[9], 10)],
    "§ 3.2": [page_text(PLACES[7], 8), page_text(PLACES[9], 10)],
    "the second chapter": [page_text(PLACES[2], 3), page_text(PLACES[3], 4)],
    "the last section": [page_text(PLACES[11], 12)],
}  # fmt: skip
CONTENT = [
    "Who was the page boy of Henry VIII?", "Which country won the table tennis world cup?",
    "The first page in Marie Curie's diary was written in which year?",
    "What did the first page of Ulysses say?", "How many pages does War and Peace have?",
    "Who was the first Page 3 girl?", "Are we on the same page?", "What does the periodic table show?",
    "Where do elements of group 2 stand in the periodic table?", "Who invented PageRank?",
    "Which landing page 2 campaign won?", "How many people sat at the round table?",
    "Who sat at table 7 top left in the painting?", "What did Larry Page found?",
    "How many table tennis players live in Dover?", "How many sections of the army crossed the river?",
    "Which page served the king first?", "What is on the Facebook page of Larvik?",
    "When was the last section of the railway finished?", "What was on the table in Dover?",
    "Did Jimmy Page 1 have a guitar?", "Turn the page, what happens?", "How deep is the water table in Faro?",
    "Which chapter of the Hells Angels is the oldest?", "What does page 3 of the annual report say?",
    "Where is table 3?", "Show the first two tables", "In Ulysses, what is on page 3?",
    "Who wrote page one headlines about whales?", "What stands on the page after page 2?",
    "What comes after section 2?",
]  # fmt: skip


@pytest.mark.parametrize("question", STRUCTURAL)
def test_what_is_named_is_looked_up(kg: KnowledgeGraph, solo: str, question: str) -> None:
    lookup = found(kg, question, solo)
    assert (lookup.text, lookup.found, lookup.content) == (STRUCTURAL[question], True, False)


@pytest.mark.parametrize("question", PARTS)
def test_what_has_several_parts(kg: KnowledgeGraph, solo: str, question: str) -> None:
    lookup = found(kg, question, solo)
    assert lookup.found
    assert not lookup.content
    places = [lookup.text.index(part) for part in PARTS[question]]
    assert places == sorted(places)
    others = {page_text(p, n) for n, p in enumerate(PLACES, 1)}
    assert sum(text in lookup.text for text in others) <= max(len(PARTS[question]), 6)


@pytest.mark.parametrize("question", CONTENT)
def test_questions_of_content_are_left_alone(kg: KnowledgeGraph, solo: str, question: str) -> None:
    assert kg[solo].look_up(question) is None


def test_generated_questions(kg: KnowledgeGraph, solo: str) -> None:
    ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
    asked: dict[str, str] = {}
    for n, form in itertools.product(range(1, 13), ("What is written on page {}?", "Show me the {} page", "p. {}")):
        asked[form.format(ordinals[n - 1] if "the {}" in form else n)] = page(n)
    for n, form in itertools.product((1, 2, 3), ("what's in table {}", "Print table {} of report.pdf", "{} table")):
        asked[form.format(ordinals[n - 1] if form == "{} table" else n)] = markdown(n)
        asked[f"Table {n} on page {2 * n + 1}"] = markdown(n)
        asked[f"What does the table on page {2 * n + 1} say?"] = markdown(n)
    found = {question: kg[solo].look_up(question) for question in asked}
    right = sum(its is not None and its.found and its.text == asked[question] for question, its in found.items())
    assert right / len(asked) >= 0.95, f"{right} of {len(asked)}"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("page 40", "report.pdf has 12 pages; there is no page 40."),
        ("What does page 0 say?", "report.pdf has 12 pages; there is no page 0."),
        ("page iv", "report.pdf has 12 pages; there is no page iv."),
        ("table 9", "report.pdf has 3 tables; there is no table 9."),
        ("table 9 on page 5", "report.pdf has 1 table on page 5; there is no table 9 there."),
        ("the table on page 2", "report.pdf has no tables on page 2."),
        ("the last table on page 2", "report.pdf has no tables on page 2; there is no last table there."),
        ("the penultimate table on page 5", "report.pdf has 1 table on page 5; there is no penultimate table there."),
        ("the second table on page 5", "report.pdf has 1 table on page 5; there is no table 2 there."),
        ("section 0", "report.pdf has 4 sections; there is no section 0."),
        ("table 1 on page 99", "report.pdf has 12 pages; there is no page 99."),
        ("section 9", "report.pdf has 4 sections; there is no section 9."),
        ("appendix B", "report.pdf has 4 sections; there is no section b."),
    ],
)
def test_what_is_not_there_is_said_to_be_missing(kg: KnowledgeGraph, solo: str, question: str, said: str) -> None:
    lookup = found(kg, question, solo)
    assert (lookup.text, lookup.found, lookup.hits) == (said, False, ())


def test_what_is_there_in_part(kg: KnowledgeGraph, solo: str) -> None:
    lookup = found(kg, "pages 12 and 13", solo)
    assert lookup.found
    assert page(12) in lookup.text
    assert lookup.text.endswith("report.pdf has 12 pages; there is no page 13.")


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("page 3 of report.pdf", page(3)), ("What does page 3 of the Annual Report 2020 say?", page_text(PLACES[2], 3)),
        ("How many pages does Annual Report 2020 have?", "annual 2020.pdf has 4 pages."),
        ("page iv of the manual", "Leaf 4 "), ("page IV in Rigging", "Leaf 4 "), ("page 3 in manual.pdf", "Leaf 7 "),
        ("the last page of Rigging", "Leaf 10 "), ("page 2 of Fundargerð_Æskulýðs.docx", "Ólafur rowed."),
        ("fundargerð ÆSKULYÐS page 1", "Móðir sat"), ("Rigging page 3", "Leaf 7 "),
        ("page 40 of the manual", "manual.pdf has 10 pages; there is no page 40."),
        ("table 1 in the manual", "manual.pdf has no tables; there is no table 1."),
        ("table 2 in Fundargerð Æskulýðs", "| Who | Oars |"),
    ],
)  # fmt: skip
def test_the_document_that_is_named(kg: KnowledgeGraph, shelf: str, question: str, begins: str) -> None:
    assert found(kg, question, shelf).text.startswith(begins)


def test_which_document(kg: KnowledgeGraph, shelf: str) -> None:
    lookup = found(kg, "What does page 3 say?", shelf)
    assert not lookup.found
    assert lookup.text == (
        "Which document is meant? There are annual 2020.pdf (4 pages), report.pdf (12 pages), "
        "manual.pdf (10 pages). Name one, by its title or its file."
    )
    assert "manual" not in found(kg, "Show table 1", shelf).text
    assert found(kg, "page 3", shelf, Filter(source="manual")).text.startswith("Leaf 7")
    assert found(kg, "page 3", shelf, Filter(where={"year": 2020})).text.startswith(page_text(PLACES[2], 3))
    assert kg[shelf].look_up("page 3", filter=Filter(source="notes")) is None
    assert (
        found(kg, "How many tables are there?", shelf).text.splitlines()[0] == "Fundargerð_Æskulýðs.docx has 2 tables."
    )


def test_without_pages_there_is_nothing_to_look_up(kg: KnowledgeGraph, plain: str) -> None:
    assert kg[plain].look_up("What does page 3 say?") is None


def test_one_file_among_many(kg: KnowledgeGraph) -> None:
    """An index finds one file by its name among many, and lists only a few of the others."""
    name = "structure-many"
    kg[name].ingest(replace(minutes(), key=f"deep/in/a{n}.pdf", title=f"Minutes {n}") for n in range(80))
    try:
        assert found(kg, "page 1 of a77.pdf", name).places[0].name.startswith("a77.pdf, ")
        assert found(kg, "What does page 2 of Minutes 78 say?", name).places[0].name.startswith("a78.pdf, ")
        assert found(kg, "page 1", name).text.endswith(" and others. Name one, by its title or its file.")
    finally:
        kg[name].delete()


def test_what_it_costs_a_question_of_content(kg: KnowledgeGraph, plain: str, caplog: pytest.LogCaptureFixture) -> None:
    """One round trip if the grammar reads a page, table or section, even a missing one; otherwise none."""

    collection = kg[plain]
    collection.look_up("page 3")  # opens it

    def trips(question: str) -> int:
        caplog.clear()
        with caplog.at_level("DEBUG", "neo4j.io"):
            assert collection.look_up(question) is None
        own = (record for record in caplog.records if record.thread == threading.get_ident())  # other threads end late
        return sum(" C: RUN " in record.getMessage() for record in own)

    opening = trips("Who designed the Fram?")
    assert trips("Which page served King Edward?") == opening
    assert trips("What does page 3 say?") == opening + 1
    assert trips("What does the section on rowing say?") == opening + 1


def test_no_model_is_asked_for_a_page(
    kg: KnowledgeGraph, talking: KnowledgeGraph, scripted: Scripted, solo: str
) -> None:
    for client in (kg, talking):
        answer = client[solo].ask("What does table 2 on page 5 say?")
        assert (answer.text, answer.found, answer.problem) == (markdown(2), True, "")
        assert [(e.kind, e.name) for e in answer.trace if isinstance(e, StructureLookup)] == [
            ("table", "report.pdf, Table 2: Ships of Cobh")
        ]
        assert not any(isinstance(e, Called) for e in answer.trace)
        assert [hit.passage.page for hit in answer.ranking] == [5]
        assert answer.ranking.hits[0].why[0].name == "Table 2: Ships of Cobh"
    assert not scripted.attempts
    assert talking[solo].save(answer)
    with pytest.raises(ConfigurationError):
        kg[solo].ask("Where were whales seen?")


def test_content_within_a_page_is_read_there(talking: KnowledgeGraph, scripted: Scripted, solo: str) -> None:
    named = {"kind": "page", "ask": "text", "number": 3, "page": "", "document": "", "within": True}
    scripted.say("structure", named)
    scripted.say("answer", "In spring [1].")
    answer = talking[solo].ask("What does page 3 say about whales?")
    assert answer.text == "In spring [1]."
    assert scripted.tasks == ["structure", "answer"]
    assert all(h.passage.page is not None and h.passage.page <= 3 <= (h.passage.last_page or 0) for h in answer.ranking)
    assert answer.citations[0].passage == answer.ranking.hits[0].passage
    shown = scripted.calls[1]["messages"][-1]["content"]
    assert page(3) in shown
    assert page_text(PLACES[3], 4) not in shown

    scripted.say("structure", named | {"number": "1, 12"})
    other = talking[solo].ask("What is the difference between Page 1 and Page 12?")
    assert {h.passage.section for h in other.ranking} == {"1 Introduction", "4 Outlook"}
    scripted.say("structure", named | {"number": "2", "kind": "table"})
    both = talking[solo].ask("What is the difference between Page 1 and Table 2?")
    assert [(e.kind, e.name) for e in both.trace if isinstance(e, StructureLookup)] == [
        ("page", "report.pdf, p. 1"), ("table", "report.pdf, Table 2: Ships of Cobh")
    ]  # fmt: skip
    assert page(1) in (shown := scripted.calls[-1]["messages"][-1]["content"]) and markdown(2) in shown
    scripted.say("structure", named | {"kind": "table"})
    row = talking[solo].ask("In Table 3, which ship is the longest?")
    assert {h.why[0].label for h in row.ranking} == {"Table"}
    assert markdown(3) in scripted.calls[-1]["messages"][-1]["content"]
    scripted.say("structure", named | {"kind": "section", "number": "4"})
    outlook = talking[solo].ask("Which places does section 4 name?")
    assert {h.passage.section for h in outlook.ranking} == {"4 Outlook"}


def test_short_sections_that_share_a_passage(kg: KnowledgeGraph) -> None:
    """Each is found by its own heading, on its own page; tables follow their captions."""
    texts = [f"{' '.join(f'Reed {n}.{i} bends in the wind.' for i in range(20))}" for n in range(1, 7)]
    sections = tuple(Section(text, f"{n} Part {n}", ((0, n),)) for n, text in enumerate(texts, 1))
    pages = tuple(Page(n, f"{n} Part {n}\n\n{text}", "iv"[n - 1 : n]) for n, text in enumerate(texts, 1))
    caption = "Table 1: Reeds"
    pages = (replace(pages[0], text=f"Before.\n\n{caption}\n\nAfter."), *pages[1:])
    table = Table(1, (("Reed", "Wind"), ("1.1", "west")), caption, 1, 1)
    kg["structure-reeds"].ingest([Document("reeds.pdf", sections, "Reeds", pages=pages, tables=(table,))])
    try:
        for n, text in enumerate(texts, 1):
            assert found(kg, f"What does section {n} say?", "structure-reeds").text == f"{n} Part {n}\n\n{text}"
        assert found(kg, "how many sections are there", "structure-reeds").text == "reeds.pdf has 6 sections."
        assert found(kg, "page i of reeds.pdf", "structure-reeds").text == (
            f"Before.\n\n{caption}\n\n{table.markdown}\n\nAfter."
        )
        assert found(kg, "What is on p. v?", "structure-reeds").text.startswith("2 Part 2")
        hits = found(kg, "What does section 3 say?", "structure-reeds").hits
        assert [hit.passage.text for hit in hits] == [f"3 Part 3\n\n{texts[2]}"]
    finally:
        kg["structure-reeds"].delete()


def test_it_can_be_switched_off(talking: KnowledgeGraph, scripted: Scripted, solo: str) -> None:
    scripted.say("answer", "Bodo [1].")
    answer = talking[solo].ask("What does page 3 say?", system="single(structure=false)+bm25")
    assert answer.text == "Bodo [1]."
    assert not any(isinstance(e, StructureLookup) for e in answer.trace)


def test_the_model_decides_when_the_rules_do_not(talking: KnowledgeGraph, scripted: Scripted, solo: str) -> None:
    question = "Read out the page right after the fourth"
    said = {"kind": "page", "ask": "text", "number": 5, "page": "", "document": "report.pdf", "within": False}
    scripted.say("structure", said)
    answer = talking[solo].ask(question)
    assert answer.text == page(5)
    assert scripted.tasks == ["structure"]
    assert "report.pdf" in scripted.calls[0]["messages"][1]["content"]

    scripted.reset()
    scripted.say("structure", {"kind": "content"})
    scripted.say("answer", "Nobody [1].")
    assert talking[solo].ask("Who was the page boy of Bodo?", system="bm25").text == "Nobody [1]."
    scripted.reset()
    scripted.say("structure", "I do not know")
    scripted.say("answer", "Nobody [1].")
    assert talking[solo].ask("Who was the page boy of Bodo?", system="bm25").text == "Nobody [1]."


def test_the_command(neo4j_env: dict[str, str], solo: str) -> None:
    run = CliRunner().invoke(main, ["ask", "table 2 on page 5", "-c", solo], env=neo4j_env)
    assert run.exit_code == 0, run.output
    assert "Ships of Cobh" in run.stdout
    assert "report.pdf, Table 2" in run.stderr
    missing = CliRunner().invoke(main, ["ask", "page 40", "-c", solo], env=neo4j_env)
    assert "there is no page 40" in missing.stdout
