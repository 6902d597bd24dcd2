"""Rules of the gateway at their limits: a statement at the limit passes, one beyond it is refused, without a server."""

from collections.abc import Mapping
from typing import Any

import pytest
from gateway_attacks import BOMBS, CUT, ELSEWHERE, HEAVIER, HEAVY, ODD, WRITES

from kgrag.graph.gateway.guest import check_guest, check_values
from kgrag.graph.gateway.run import check_plan, read_rows
from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError

HOPS = GatewaySettings().hops
_VECTOR = "CALL db.index.vector.queryNodes('i', {}, $v) YIELD node RETURN node"
_WORDS = "CALL db.index.fulltext.queryNodes('i', '{}') YIELD node RETURN node"


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
        ("MATCH (n) WHERE n.name CONTAINS 'a' RETURN n", "MATCH (n) WHERE n.name =~ '(a+)+' RETURN n", "=~ is refused"),
        ("UNWIND range(1, 10000) AS x RETURN x", "RETURN size(range(1, 10000))", "outside UNWIND"),
        ("UNWIND range(1, 1000) AS x RETURN x", "RETURN range(1, 1000) AS x", "outside UNWIND"),
        ("RETURN range(1, 100)", "RETURN range(1, 101)", "outside UNWIND"),
        ("MATCH (n) RETURN labels(n)[0], n.l[1..3]", "MATCH (n) RETURN [x IN n.l | x]", "list comprehension"),
        ("MATCH (n) RETURN COLLECT { MATCH (n)--(m) RETURN m }", "MATCH (n) RETURN [(n)--(m) | m]", "pattern comp"),
        ("RETURN 1 IN [1, 2]", "RETURN any(x IN [1, 2] WHERE x = 1)", r"any\(\) over a list"),
        ("UNWIND [1, 2] AS x RETURN sum(x)", "RETURN reduce(s = 0, x IN [1, 2] | s + x)", r"reduce\(\) is refused"),
        ("MATCH (n) WITH n.a + n.b AS s RETURN s + n.c", "MATCH (n) WITH n.a + n.b AS s RETURN s + s", "from itself"),
        ("MATCH (n) WITH count(n) + 1 AS c RETURN c * c", "WITH [1] AS l WITH [l, l] AS m RETURN m", "from itself"),
        ("WITH 'a' + 'b' AS s RETURN size(s) + size(s)", "WITH 'a' + 'b' AS s WITH s AS t RETURN t + s", "from itself"),
        (_WORDS.format("a* " * 20), _WORDS.format("a* " * 21), "20 wildcards"),
        (_WORDS.format("a" * 2000), _WORDS.format("a" * 2001), "2,000 characters"),
        (_VECTOR.format(10_000), _VECTOR.format(10_001), "from 1 to 10,000"),
        (_VECTOR.format(1), _VECTOR.format(0), "from 1 to 10,000"),
        (_VECTOR.format("$k"), _VECTOR.format("$k + 1"), "from 1 to 10,000"),
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
    check_guest(passes, {"v": [1.0], "k": 3}, HOPS)
    with pytest.raises(RefusedError, match=said) as error:
        check_guest(refused, {"v": [1.0], "k": 3}, HOPS)
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
    check_values({"p": passes})
    check_guest("RETURN $p", {"p": passes}, HOPS)
    with pytest.raises(RefusedError, match=said):
        check_values({"p": refused})
        check_guest("RETURN $p", {"p": refused}, HOPS)


def test_attacks_are_many() -> None:
    assert len(set(WRITES + ELSEWHERE) | {s for s, _ in BOMBS + HEAVY + HEAVIER + CUT + ODD}) >= 300


@pytest.mark.parametrize("statement", WRITES + ELSEWHERE)
def test_guest_is_refused_before_anything_is_sent(statement: str) -> None:
    with pytest.raises(RefusedError) as error:
        check_guest(statement.replace("{port}", "7"), {"url": "file:///secret.csv", "key": "x"}, HOPS)
    assert error.value.message and error.value.remedy
    assert "\n" not in error.value.message


def _plan(*operators: str) -> Mapping[str, Any]:
    first, *rest = operators
    name, _, details = first.partition(" ")
    children = [_plan(*rest)] if rest else []
    return {"operatorType": f"{name}@neo4j", "args": {"Details": details}, "children": children}


def test_plan_that_reads_passes_and_no_other() -> None:
    for trust in ("owner", "guest"):
        check_plan("r", _plan("ProduceResults", "PartitionedNodeByLabelScan", "Expand(All)"), trust)
        check_plan("r", _plan("ProcedureCall db.labels() :: (label :: STRING)"), trust)
        for kind, plan in (
            ("rw", _plan("ProduceResults")),
            ("s", _plan("ProduceResults")),
            ("r", None),
            ("r", _plan("ProduceResults", "Filter", "SetProperty")),
            ("r", _plan("LoadCSV")),
            ("r", _plan("ShowTransactions")),
            ("r", _plan("ProcedureCall db.info() :: (id :: STRING)")),
        ):
            with pytest.raises(RefusedError):
                check_plan(kind, plan, trust)
    check_plan("r", _plan("ProduceResults", "ShowIndexes allIndexes"), "owner")
    with pytest.raises(RefusedError):
        check_plan("r", _plan("ProduceResults", "ShowIndexes allIndexes"), "guest")


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
    assert cut(three, 1, 2, 3, 4) == (3, "only the first 3 rows are given (KGRAG_GATEWAY__ROWS)")
    assert cut(three, "x" * 498, "y" * 498) == (2, None)
    assert cut(three, "x" * 498, "y" * 499) == (
        1,
        "only the rows of the first 0.001 MB are given (KGRAG_GATEWAY__MEGABYTES)",
    )
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, False)[1]  # type: ignore[arg-type]
    assert row == ({"a": 1},)
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, True)[1]  # type: ignore[arg-type]
    assert row == ({"embedding": [0.5] * 8, "a": 1},)
