"""Each rule of the gateway at its limit: what is at it passes, one beyond it is refused. No server is needed."""

from collections.abc import Mapping
from typing import Any

import pytest

from kgrag.graph.gateway.patterns import unsafe
from kgrag.graph.gateway.run import check_plan, prepared, read_rows
from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError

LIMITS = GatewaySettings()
_VECTOR = "CALL db.index.vector.queryNodes('i', {}, $v) YIELD node RETURN node"
_WORDS = "CALL db.index.fulltext.queryNodes('i', '{}') YIELD node RETURN node"
_LOOPS = ("[a IN range(1, 2) | [b IN range(1, 2) | {}]]", "[c IN range(1, 2) | c]")


def _nested(deep: int) -> str:
    return "RETURN " + "EXISTS { MATCH (a) WHERE " * deep + "true" + " }" * deep


@pytest.mark.parametrize(
    ("passes", "refused", "said"),
    [
        ("MATCH (a)-[*1..15]->(b) RETURN b", "MATCH (a)-[*1..16]->(b) RETURN b", "at most 15 relationships"),
        ("MATCH (a)-[*..15]->(b) RETURN b", "MATCH (a)-[*]->(b) RETURN b", "at most 15 relationships"),
        ("MATCH ((a)-->(b)){1,15} RETURN b", "MATCH ((a)-->(b)){1,} RETURN b", "at most 15 relationships"),
        ("MATCH (a)-->{1,15}(b) RETURN b", "MATCH (a)-->+(b) RETURN b", "at most 15 relationships"),
        ("RETURN true" + " XOR true" * 8, "RETURN true" + " XOR true" * 9, "8 XOR"),
        ("RETURN 1" + " + 1" * 100, "RETURN 1" + " + 1" * 101, "more than 100 operators"),
        ("WITH 1 AS a " * 119 + "RETURN a", "WITH 1 AS a " * 120 + "RETURN a", "more than 120 clauses"),
        ("MATCH (a)" + "--()" * 24 + " RETURN a", "MATCH (a)" + "--()" * 25 + " RETURN a", "More than 24 relation"),
        (_nested(6), _nested(7), "more than 6 deep"),
        ("RETURN CASE 1 WHEN 1 THEN CASE 2 WHEN 2 THEN 3 END END",
         "RETURN CASE CASE 1 WHEN 1 THEN 2 END WHEN 2 THEN 3 END", "what another CASE compares"),
        ("MATCH (n:A" + "&B" * 12 + ") RETURN n", "MATCH (n:A" + "&B" * 13 + ") RETURN n", "combinations"),
        ("MATCH (n) WHERE n.name =~ 'a.*b.*' RETURN n", "MATCH (n) WHERE n.name =~ '(a+)+' RETURN n", "run away"),
        (_WORDS.format("a* " * 20), _WORDS.format("a* " * 21), "20 wildcards"),
        (_WORDS.format("a" * 2000), _WORDS.format("a" * 2001), "2,000 characters"),
        (_VECTOR.format(10_000), _VECTOR.format(10_001), "at most 10,000 are given"),
        (_VECTOR.format(1), _VECTOR.format(0), "Ask for 1 or more|asks for 0"),
        ("RETURN " + _LOOPS[0].format("b"), "RETURN " + _LOOPS[0].format(_LOOPS[1]), "More than 2 lists"),
        ("RETURN 1;", "RETURN 1; RETURN 2", "more than one statement"),
        ("RETURN 1", "", "empty"),
        ("RETURN 1", "CREATE (n) RETURN n", "may not begin with CREATE"),
        ("MATCH (n) RETURN n", "MATCH (n) SET n.a = 1", "SET is refused"),
        ("MATCH (n) RETURN n.`set`", "MATCH (n) REMOVE n.a RETURN n", "REMOVE is refused"),
        ("MATCH (n) RETURN n", "MATCH (n) DETACH DELETE n", "is refused"),
        ("MATCH (n) RETURN n", "MATCH (n) FOREACH (x IN [1] | MERGE (n)) RETURN n", "is refused"),
        ("CALL db.labels() YIELD label RETURN 1", "CALL dbms.listConfig() YIELD name RETURN name", "not on the list"),
        ("RETURN toUpper('a')", "RETURN apoc.text.join(['a'], 'b')", "apoc.text.join is not on the list"),
        ("RETURN 1" + " " * 9992, "RETURN 1" + " " * 9993, "10,001 characters"),
    ],
)  # fmt: skip
def test_statements(passes: str, refused: str, said: str) -> None:
    assert prepared(passes, {"v": [1.0]}, LIMITS).startswith("CYPHER 5 ")
    with pytest.raises(RefusedError, match=said) as error:
        prepared(refused, {"v": [1.0]}, LIMITS)
    assert error.value.remedy


@pytest.mark.parametrize(
    ("passes", "refused", "said"),
    [
        ([1] * 19_999, [1] * 20_000, "20,001 values"),
        ({"a": [1] * 19_998}, {"a": [1] * 19_999}, "20,001 values"),
        ("x" * 199_999, "x" * 200_000, "200,001 characters"),
        (2**63 - 1, 2**63, "64 bits"),
        (-(2**63), [{"a": -(2**63) - 1}], "64 bits"),
        ("\U0001f600", ["\ud800"], "half a character"),
    ],
    ids=["list", "map", "text", "large", "small", "surrogate"],
)
def test_parameters(passes: Any, refused: Any, said: str) -> None:
    assert prepared("RETURN $p", {"p": passes}, LIMITS)
    with pytest.raises(RefusedError, match=said):
        prepared("RETURN $p", {"p": refused}, LIMITS)


def test_lists_and_numbers_of_results_are_guarded() -> None:
    for made in ("collect(n)", "split(n.name, ' ')", "[(n)--(m) | m]", "COLLECT { MATCH (m) RETURN m }"):
        assert "longer than the gateway allows: 10000" in prepared(f"MATCH (n) RETURN {made}", {}, LIMITS)
    assert "longer than the gateway allows" not in prepared("MATCH (n) RETURN labels(n)[0]", {}, LIMITS)
    assert "> 10000 THEN" in prepared(_VECTOR.format("toInteger('9')"), {}, LIMITS)


@pytest.mark.parametrize(
    ("pattern", "safe"),
    [("a*b*", True), ("a*b*c*", False), ("a{1,20}b*c*", True), ("a{1,21}b*c*", False), ("(ab)?", True),
     ("(ab){2}", False), ("(?=a)", False), ("(?i)a", True), (r"(a)\1", False), ("a**", False),
     ("x" * 200, True), ("x" * 201, False), ("(a", False)],
)  # fmt: skip
def test_regular_expressions(pattern: str, safe: bool) -> None:
    assert (unsafe(pattern) == "") is safe


def _plan(*operators: str) -> Mapping[str, Any]:
    first, *rest = operators
    return {"operatorType": f"{first}@neo4j", "children": [_plan(*rest)] if rest else []}


def test_plans_read_and_do_nothing_else() -> None:
    check_plan("r", _plan("ProduceResults", "PartitionedNodeByLabelScan", "Expand(All)"))
    for kind, plan in (
        ("rw", _plan("ProduceResults")),
        ("s", _plan("ProduceResults")),
        ("r", None),
        ("r", _plan("ProduceResults", "Filter", "SetProperty")),
        ("r", _plan("LoadCSV")),
    ):
        with pytest.raises(RefusedError):
            check_plan(kind, plan)


class _Result:
    """What the driver gives: records of one column."""

    def __init__(self, *values: Any) -> None:
        self._values = values

    def keys(self) -> list[str]:
        return ["n"]

    def __iter__(self) -> Any:
        return iter([{"n": value} for value in self._values])


def test_rows_and_megabytes_are_capped() -> None:
    def cut(limits: GatewaySettings, *values: Any) -> tuple[int, str | None]:
        columns, found, said = read_rows(_Result(*values), limits, False)  # type: ignore[arg-type]
        assert columns == ("n",)
        return len(found), said

    three = GatewaySettings(rows=3, megabytes=0.001)
    assert cut(three, 1, 2, 3) == (3, None)
    assert cut(three, 1, 2, 3, 4) == (3, "only the first 3 rows are given")
    assert cut(three, "x" * 498, "y" * 498) == (2, None)
    assert cut(three, "x" * 498, "y" * 499) == (1, "only the rows of the first 0.001 MB are given")
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, False)[1]  # type: ignore[arg-type]
    assert row == ({"a": 1},)
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, True)[1]  # type: ignore[arg-type]
    assert row == ({"embedding": [0.5] * 8, "a": 1},)
