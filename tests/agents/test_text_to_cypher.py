"""A question becomes Cypher: the prompt, the handling of the reply, and the output of the command."""

import json
from typing import Any

import pytest
from click.testing import Result
from command_line import run_kgrag
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.agents.text_to_cypher import examples
from kgrag.graph.description import describe
from kgrag.values.errors import ConfigurationError, ModelError, NotFoundError

QUESTION = "Which names are triples about?"
ABOUT = "MATCH (t:Triple {collection: $collection}) RETURN DISTINCT t.subject AS name ORDER BY name"
NAMES = ["Nordvika", "Ole Brandvik", "Stilla"]
WRITE = "MERGE (e:Entity {id: 'intruder', collection: $collection}) RETURN e.id"


def _fenced(statement: str, **parameters: Any) -> str:
    values = f"\n```json\n{json.dumps(parameters)}\n```" if parameters else ""
    return f"```cypher\n{statement}\n```{values}"


def _said(scripted: Scripted) -> list[str]:
    """Return the prompt of each call as one text."""
    return ["\n".join(m["content"] for m in call["messages"]) for call in scripted.calls]


def test_right_at_once(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("cypher", _fenced(ABOUT + ";"))
    answer = talking[coast].ask_cypher(QUESTION)
    assert answer.rows is not None
    assert [row["name"] for row in answer.rows] == NAMES
    assert (answer.statement, answer.parameters) == (ABOUT, {"collection": coast})
    assert len(answer.attempts) == answer.usage.calls == 1 and answer.usage.tokens > 0
    (told,) = _said(scripted)
    assert describe().text() in told and QUESTION in told
    assert "{collection: $collection}" in told and "$$" not in told
    assert all(query.text in told for query in examples(QUESTION))


@pytest.mark.parametrize(
    "reply",
    [
        f"Here is a statement that does it:\n\n{ABOUT};",
        f"Sure!\n```\n{ABOUT}\n```\nIt lists each subject once.",
        f"<think>MATCH (n) DETACH DELETE n? No.</think>\n```CYPHER\n{ABOUT}",
        f"```json\n{{}}\n```\n```cypher\n{ABOUT}\n```",
    ],
    ids=["prose", "fence", "thinking", "parameters first"],
)
def test_what_stands_around_the_statement(talking: KnowledgeGraph, scripted: Scripted, coast: str, reply: str) -> None:
    scripted.say("cypher", reply)
    answer = talking[coast].ask_cypher(QUESTION)
    assert answer.rows is not None and len(answer.rows) == 3
    assert answer.statement == ABOUT


def test_parameters_of_its_own_and_those_that_are_given(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    statement = (
        "CALL db.index.fulltext.queryNodes($entity_name, $name, {limit: 5}) YIELD node "
        "RETURN node.name AS name, node.collection = $collection AS here"
    )
    scripted.say("cypher", _fenced(statement, **{"$name": "Brandvik", "collection": "another", "entity_name": "x"}))
    answer = talking[coast].ask_cypher("Who is Brandvik?")
    assert answer.rows is not None
    assert {"name": "Ole Brandvik", "here": True} in list(answer.rows)
    assert answer.parameters["name"] == "Brandvik" and answer.parameters["collection"] == coast


@pytest.mark.parametrize(
    ("first", "hint"),
    [
        (_fenced("MATCH (t:Triple {collection: $collection}) RETURN t.subject name"), "Invalid input"),
        (_fenced("MATCH (t:Triple) RETURN DISTINCT t.subject AS name"), "Nothing keeps the pattern (t:Triple) within"),
        (_fenced("MATCH (t:Triple {collection: $collection, subject: $who}) RETURN t"), "who"),
        (_fenced(WRITE), "MERGE"),
        ("I am not sure what you mean.", "no statement of Cypher"),
        ("```cypher\nRETURN 1 AS name\n```\n```json\n[1]\n```", "not a JSON object"),
    ],
    ids=["syntax", "other collections", "missing parameter", "write", "no statement", "parameters"],
)
def test_what_is_wrong_is_told_once(
    talking: KnowledgeGraph, scripted: Scripted, coast: str, first: str, hint: str
) -> None:
    counted = talking[coast].info()
    scripted.say("cypher", first, _fenced(ABOUT))
    answer = talking[coast].ask_cypher(QUESTION)
    assert answer.rows is not None
    assert [row["name"] for row in answer.rows] == NAMES
    assert [bool(attempt.problem) for attempt in answer.attempts] == [True, False]
    assert answer.usage.calls == 2
    before, again = _said(scripted)
    told = again.split(QUESTION)[-1]
    assert before.split(QUESTION)[-1].strip() == ""
    assert answer.attempts[0].statement in told and hint in told
    assert talking[coast].info() == counted


def test_twice_wrong_is_an_error_with_the_statement(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("cypher", "", "MATCH (n:Nothing RETURN n", _fenced(WRITE))
    with pytest.raises(ModelError) as failure:
        talking[coast].ask_cypher(QUESTION)
    assert WRITE in failure.value.message and "'cypher'" in failure.value.message
    assert "KGRAG_CHAT__MODELS" in failure.value.remedy
    assert len(scripted.calls) == 3  # the empty reply is retried


def test_nothing_said(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("cypher", "")
    with pytest.raises(ModelError, match="replied nothing"):
        talking[coast].ask_cypher(QUESTION)


def test_only_the_statement(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    scripted.say("cypher", _fenced(WRITE))
    answer = talking[coast].ask_cypher(QUESTION, run=False)
    assert answer.rows is None and answer.statement == WRITE


def test_without_a_model_or_a_collection(kg: KnowledgeGraph, talking: KnowledgeGraph, coast: str) -> None:
    with pytest.raises(ConfigurationError, match="No language model"):
        kg[coast].ask_cypher(QUESTION)
    with pytest.raises(NotFoundError):
        talking["no such"].ask_cypher(QUESTION)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How are Roald Amundsen and Colin Archer connected?", "connection"),
        ("Which keywords stand together with the keyword sea?", "keyword_company"),
        ("Which hubs are mentioned most often?", "hubs"),
        ("Which documents are the largest?", "documents"),
    ],
)
def test_examples_are_those_that_resemble_the_question(question: str, name: str) -> None:
    shown = examples(question)
    assert f"analyst/{name}" in [query.name for query in shown]
    assert len(shown) == 4 and not any("$vector" in query.text for query in shown)


class TestCommand:
    @pytest.fixture
    def env(self, neo4j_env: dict[str, str], scripted: Scripted) -> dict[str, str]:
        return {**neo4j_env, **scripted.env(), "COLUMNS": "100"}

    @pytest.fixture
    def right(self, scripted: Scripted) -> None:
        scripted.say("cypher", _fenced(ABOUT))

    def _run(self, env: dict[str, str], *args: str, code: int = 0) -> Result:
        return run_kgrag(env, "cypher", "--ask", *args, code=code)

    def test_rows_on_one_stream_and_the_statement_on_the_other(
        self, env: dict[str, str], right: None, coast: str
    ) -> None:
        shown = self._run(env, QUESTION, "-c", coast)
        assert "Ole Brandvik" in shown.stdout and ABOUT not in shown.stdout
        assert ABOUT in shown.stderr and "3 rows" in shown.stderr and "1 call" in shown.stderr
        assert f':params {{"collection": "{coast}"}}' in shown.stderr

    def test_forms_for_scripts(self, env: dict[str, str], right: None, coast: str) -> None:
        listed = json.loads(self._run(env, QUESTION, "-c", coast, "--json").stdout)
        assert listed["statement"] == ABOUT and len(listed["attempts"]) == 1 and "Stilla" in json.dumps(listed["rows"])
        assert self._run(env, QUESTION, "-c", coast, "--csv").stdout.splitlines() == ["name", *NAMES]
        assert self._run(env, QUESTION, "-c", coast, "--show").stdout.splitlines()[1:] == ABOUT.splitlines()

    def test_mistakes(self, env: dict[str, str], scripted: Scripted, neo4j_env: dict[str, str], coast: str) -> None:
        scripted.say("cypher", _fenced(WRITE))
        failed = self._run(env, QUESTION, "-c", coast, code=7)
        assert "twice" in failed.stderr and WRITE in failed.stderr
        assert "empty" in self._run(env, " ", code=2).stderr
        assert "--json and --csv" in self._run(env, QUESTION, "--json", "--csv", code=2).stderr
        assert "KGRAG_CHAT__MODEL" in self._run(neo4j_env, QUESTION, "-c", coast, code=2).stderr
