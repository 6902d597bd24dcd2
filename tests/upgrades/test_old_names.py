"""What 0.1.0 called otherwise does its work in 0.2, says the new name, and goes in 0.3.0."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import kgrag
from kgrag.cli import MOVED, main
from kgrag.retrieval.pathrank_options import PathRankOptions
from kgrag.runtime.options import Options
from kgrag.server import mcp

COMMANDS = (
    "ask-cypher", "backup", "communities", "digest", "eval", "extract", "generate-questions", "grade", "graph-quality",
    "import-triples", "import-wikidata", "logs", "migrate", "params", "prompts", "ranks", "reembed", "repair",
    "reproduce", "resolve", "restore", "retrievers", "runs", "settings", "status", "systems", "tag", "train", "tree",
)  # fmt: skip
OPTIONS = {
    "k0": "seeds", "emax": "names", "keep": "targets", "beta": "word_weight", "gamma": "inherited", "off": "hop_cost",
    "omega": "pagerank_weight",
}  # fmt: skip
TOOLS = ("cypher",)


def test_it_goes_in_0_3() -> None:
    assert kgrag.__version__.startswith("0.2."), "the old names go now: remove them, and this test"


def test_these_are_all() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    for group, parts in pyproject["project"]["entry-points"].items():
        if group in ("kgrag.retrievers", "kgrag.strategies"):
            for place in parts.values():
                importlib.import_module(place.partition(":")[0])
    assert tuple(sorted(MOVED)) == COMMANDS
    kinds = [Options, *_below(Options)]
    assert {kind: dict(kind.renamed) for kind in kinds if kind.renamed} == {PathRankOptions: OPTIONS}
    assert tuple(mcp._OLD) == TOOLS


def _below(kind: type[Options]) -> list[type[Options]]:
    return [one for child in kind.__subclasses__() for one in (child, *_below(child))]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_its_new_name(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"], prog_name="kgrag")
    assert result.exit_code == 0
    assert result.stderr == f"`kgrag {name}` is `kgrag {MOVED[name]}` now; the old name goes in 0.3.0.\n"


@pytest.mark.parametrize(("old", "new"), OPTIONS.items())
def test_an_option_says_its_new_name(old: str, new: str) -> None:
    told = f"The option '{old}' is '{new}' now; the old name goes in 0.3.0."
    with pytest.warns(FutureWarning) as warned:
        assert PathRankOptions.current({old: 1}) == {new: 1}
    assert [str(one.message) for one in warned] == [told]


def test_the_changelog_has_each() -> None:
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8").partition("\n## 0.1.0")[0]
    words = set(re.findall(r"[\w-]+", changes))
    assert {*COMMANDS, *OPTIONS, *TOOLS} <= words
    assert "go in 0.3.0" in changes
