"""kgrag enrich extract, as a user runs it."""

import json
import re

import pytest
from command_line import CommandLine
from scripted import Scripted

from kgrag import KnowledgeGraph

_REPLY = {
    "entities": ["Larvik", "Colin Archer"],
    "triples": [["Colin Archer", "lived in", "Larvik"], ["it", "is", "Larvik"]],
}
_PRICES = {"extract": (1.0, 2.0), "other": (0.0, 0.0)}


@pytest.fixture
def model(scripted: Scripted) -> Scripted:
    """A model that gives the same reply for every passage."""
    scripted.say("extract", _REPLY)
    return scripted


def _env(scripted: Scripted, **changes: object) -> dict[str, str]:
    return scripted.env(models={"extract": "extract"}, prices=_PRICES, **changes)


def test_what_it_took(cli: CommandLine, ships: str, model: Scripted) -> None:
    result = cli("enrich", "extract", "-c", ships, "--limit", "2", env=_env(model))
    lines = result.stdout.splitlines()
    assert lines[0] == f"Collection {ships}: 2 passages extracted, 1 left"
    assert lines[1].startswith("1 triple written, 3 left out (2 pronoun, 1 not in the passage) in ")
    assert re.fullmatch(r"2 calls, [\d,]+ tokens in, [\d,]+ out, cost 0\.00\d\d", lines[2])
    assert "extraction: 2" in result.stderr
    result = cli("enrich", "extract", "-c", ships, "--json", env=_env(model))
    report = json.loads(result.stdout)
    assert (report["collection"], report["passages"], report["left"], report["stopped"]) == (ships, 1, 0, None)
    assert report["usage"]["calls"] == 1
    assert cli("enrich", "extract", "-c", ships, env=_env(model)).stdout.startswith(
        f"Collection {ships}: 0 passages extracted, 0 left"
    )


def test_a_dry_run_spends_nothing(cli: CommandLine, ships: str, model: Scripted, kg: KnowledgeGraph) -> None:
    away = _env(model, base_url="http://127.0.0.1:9/v1")
    result = cli("enrich", "extract", "-c", ships, "--dry-run", env=away)
    assert f"Collection {ships}: 3 passages to extract" in result.stdout
    assert "3 calls of extract" in result.stdout
    estimate = json.loads(cli("enrich", "extract", "-c", ships, "--dry-run", "--json", env=away).stdout)
    ranges = zip(estimate["prompt_tokens"], estimate["completion_tokens"], strict=True)
    assert estimate["cost"] == pytest.approx([(read + 2 * written) / 1e6 for read, written in ranges])
    least, most = estimate["cost"]
    assert f"Cost: {least:.4f} to {most:.4f}" in result.stdout
    between = f"{(least + most) / 2}"
    assert (
        "perhaps more than the budget"
        in cli("enrich", "extract", "-c", ships, "--dry-run", "--budget", between, env=away).stdout
    )
    assert (
        ", more than the budget"
        in cli("enrich", "extract", "-c", ships, "--dry-run", "--budget", "0.001", env=away).stdout
    )
    without = cli("enrich", "extract", "-c", ships, "--dry-run", "--limit", "2")
    assert "2 calls of a model that is not set yet" in without.stdout
    assert "unknown price" in without.stdout
    assert not model.attempts
    report = json.loads(cli("enrich", "extract", "-c", ships, "--json", env=_env(model)).stdout)
    letters = sum(len(m["content"].encode()) for call in model.calls for m in call["messages"])
    assert estimate["prompt_tokens"][0] < letters / 4 < letters / 3.3 < estimate["prompt_tokens"][1]
    assert report["passages"] == estimate["calls"]
    assert "0 passages to extract" in cli("enrich", "extract", "-c", ships, "--dry-run", env=away).stdout


def test_failures_are_listed_and_tried_again(cli: CommandLine, ships: str, model: Scripted) -> None:
    model.fail("bad-json", "bad-json", task="extract")
    result = cli("enrich", "extract", "-c", ships, "--threads", "1", env=_env(model), code=1)
    assert "2 passages extracted, 1 left" in result.stdout
    assert "1 passage failed; run the same command again to try just these:" in result.stderr
    assert "  archer (Colin Archer): The model 'extract' gave no usable JSON" in result.stderr
    assert "Try another model for this task, for example KGRAG_CHAT__MODELS=" in " ".join(result.stderr.split())
    calls = len(model.calls)
    cli("enrich", "extract", "-c", ships, env=_env(model))
    assert len(model.calls) == calls + 1


def test_what_was_cut_off_is_told(cli: CommandLine, ships: str, model: Scripted) -> None:
    model.say("extract", _REPLY | {"triples": [["Colin Archer", f"sailed {n**9}", "Larvik"] for n in range(30, 50)]})
    model.fail("truncated", task="extract")
    result = cli("enrich", "extract", "-c", ships, "--threads", "1", "--limit", "2", env=_env(model))
    assert "\n1 reply cut off; their complete items were used. Raise KGRAG_CHAT__MAX_TOKENS" in result.stdout
    assert 5 < int(re.findall(r"(\d+) triples written", result.stdout)[0]) < 20  # from the truncated reply


def test_what_stops_it(cli: CommandLine, ships: str, model: Scripted) -> None:
    result = cli("enrich", "extract", "-c", ships, "--budget", "0.0001", env=_env(model), code=7)
    assert "0 passages extracted, 3 left" in result.stdout
    assert "budget" in result.stderr
    assert "3 passages left; run the same command again to go on." in result.stderr
    assert not model.attempts
    result = cli("enrich", "extract", "-c", ships, env=_env(model, base_url="http://127.0.0.1:9/v1"), code=7)
    assert "No connection to http://127.0.0.1:9/v1" in result.stderr
    model.fail("402", "402", "402", "402", "402", "402", "402", "402", task="extract")
    result = cli("enrich", "extract", "-c", ships, env=_env(model), code=7)
    assert "is used up: The server had an error." in result.stderr
    assert "use another key" in result.stderr
    result = cli("enrich", "extract", "-c", ships, code=2)
    assert "No language model is configured." in result.stderr
    cli("enrich", "extract", "-c", "nowhere", env=_env(model), code=4)


def test_help(cli: CommandLine) -> None:
    text = cli("enrich", "extract", "--help").stdout
    assert "kgrag enrich extract -c work --budget 5" in text
