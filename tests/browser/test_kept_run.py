"""An analyst sees how a saved answer came about."""

from pathlib import Path

import pytest
from analyst import Analyst
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.runs import drawing
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.browser

QUESTION = "Where did the designer of the Fram live?"
DESIGNED, LIVED = Triple("Fram", "designed by", "Colin Archer"), Triple("Colin Archer", "lived in", "Larvik")
ARCHER = "Colin Archer was a naval architect. He lived in Larvik."
DOCUMENTS = [
    Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram", triples=(DESIGNED,)),
    Document("archer", (Section(ARCHER),), "Colin Archer", triples=(LIVED,)),
]


def test_a_kept_run_shows_its_steps_and_what_they_found(
    analyst: Analyst, talking: KnowledgeGraph, scripted: Scripted, collection_name: str, tmp_path: Path
) -> None:
    talking[collection_name].ingest(DOCUMENTS)
    scripted.say(
        "read",
        {"triples": [["Fram", "designed by", "Colin Archer"]]},
        {"triples": [["Colin Archer", "lived in", "Larvik"]]},
    )
    scripted.say("reason", {"answerable": False, "why": "His home is not known."}, {"answerable": True})
    scripted.say("rewrite", "Where did Colin Archer live?")
    scripted.say("answer", "In Larvik [1].")
    id = talking[collection_name].save(talking[collection_name].ask(QUESTION, system="gear+hybrid"))
    parameter, statement = drawing(id)
    analyst.enter(parameter)
    analyst.run(statement)
    analyst.screenshot(tmp_path / "run.png")
    panel = analyst.overview()
    for kind in ("Run (1)", "Step (2)", "Passage (2)", "Triple (2)", "HAS_STEP (2)", "NEXT (1)", "CITES (1)"):
        assert kind in panel
    captions = analyst.captions()
    first = next(number for number, caption in captions.items() if caption.startswith("1."))
    assert any(caption.startswith("2. Where") for caption in captions.values())
    step = analyst.click(first)
    analyst.screenshot(tmp_path / "step.png")
    assert "Fram | designed by | Colin Archer" in step and "His home is not known." in step
