"""A field added to a value appears in every interface through its own declaration."""

import subprocess
import sys

_PROGRAM = """
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

name, last = "kgrag.values.events", "    cut: bool = False\\n\\n    @property\\n    def doubt"
source = Path(find_spec(name).origin).read_text(encoding="utf-8")
assert source.count(last) == 1
sys.modules[name] = module = ModuleType(name)
exec(source.replace(last, "    mood: str = 'calm'\\n" + last), module.__dict__)

from kgrag.graph import runs
from kgrag.server.api.forms import versioned
from kgrag.server.replies import reply_schema, shortened
from kgrag.values.events import Answer
from kgrag.values.forms import schema
from kgrag.values.results import Ranking
from kgrag.wire import AnswerForm, from_json, to_json

answer = Answer("?", "Yes.", True, "single", Ranking("?", "bm25"), mood="glad")
assert to_json(answer)["mood"] == "glad"  # --json, REST and kept answers
assert from_json(Answer, to_json(answer)) == answer  # the remote client, kept answers
older = {key: value for key, value in to_json(answer).items() if key != "mood"}
assert from_json(Answer, older).mood == "calm"
assert "mood" in schema(versioned(AnswerForm))["required"]  # OpenAPI
assert shortened(answer, 1000)["mood"] == "glad" and "mood" in reply_schema(AnswerForm)["properties"]  # MCP
kept = []
transaction = SimpleNamespace(run=lambda name, **values: kept.append(values["properties"]) or [1])
runs.save_run(SimpleNamespace(write=lambda work: work(transaction)), "ships", answer)  # kept runs
assert kept[0]["mood"] == "glad" and kept[0]["answer"] == "Yes."
print("everywhere")
"""


def test_a_new_field_of_an_answer_appears_at_every_door() -> None:
    shown = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert shown.stdout == "everywhere\n", shown.stderr
