"""The log has operations, their time and their size, but never a text or a secret."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

QUESTION = "Which shipwright had a workshop in Larvik?"
ANSWER = "Colin Archer, the shipwright [1]."
TEXT = "Colin Archer designed the Fram in his workshop."
KEY = "sk-0123456789abcdef"
INGESTED = r"documents: 1, with 1 new passages, in \d+\.\d s"
SEARCHED = r"bm25: 1 of 3 passages in \d+ ms"
ASKED = r"answer: answer read \d+ tokens and wrote \d+ in \d+\.\d s"


def test_no_text_and_no_secret_is_logged(
    graph_settings: Settings, scripted: Scripted, collection_name: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    scripted.say("answer", ANSWER)
    scripted.fail("429:1")
    chat = scripted.settings(api_key=KEY, cache=True)
    settings = graph_settings.model_copy(update={"chat": chat, "cache": tmp_path})
    with caplog.at_level(logging.DEBUG, "kgrag"), KnowledgeGraph.connect(settings=settings) as kg:
        notes = kg[collection_name]
        notes.ingest([Document("archer", (Section(TEXT),), "Colin Archer")])
        notes.search(QUESTION, k=3, retriever="bm25")
        for _ in range(2):
            answer = notes.ask(QUESTION, system="single+bm25")
        assert answer.text
    logged = [f"{r.name} {r.levelname} {r.getMessage()}" for r in caplog.records if r.name.startswith("kgrag")]
    for pattern in (INGESTED, SEARCHED, ASKED, ASKED + r" \(kept\)"):
        assert any(re.search(f"^kgrag\\.[a-z_.]+ INFO {pattern}$", line) for line in logged), (pattern, logged)
    assert graph_settings.neo4j_password is not None
    for secret in (KEY, graph_settings.neo4j_password.get_secret_value(), "shipwright", "workshop", "Archer"):
        assert not [line for line in logged if secret in line]


def test_verbose_shows_it_on_standard_error(cli: CommandLine, ships: str) -> None:
    quiet = cli("search", "Who designed the Fram?", "-c", ships, "-r", "bm25")
    result = cli("-v", "search", "Who designed the Fram?", "-c", ships, "-r", "bm25")
    assert result.stdout == quiet.stdout and "kgrag." not in quiet.stderr
    assert re.search(r"^\d\d:\d\d:\d\d kgrag\.retrieval\.base: bm25: \d of 8 passages in \d+ ms$", result.stderr, re.M)
    again = cli("search", "Fram", "-c", ships, "-r", "bm25")
    assert "kgrag." not in again.stderr, "the log ends with the command"


def test_a_library_that_nobody_configured_prints_nothing() -> None:
    code = "import logging, kgrag; logging.getLogger('kgrag.graph').warning('a warning')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr == ""
