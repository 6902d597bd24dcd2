"""Each rule of the gateway at its limit, without a server: a statement at the limit passes, one beyond is refused."""

from collections.abc import Mapping
from typing import Any

import pytest
from gateway_statements import Asked, limits, statements

from kgrag.graph.gateway.guest import check_guest, check_values
from kgrag.graph.gateway.run import check_plan, read_rows
from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError

HOPS = GatewaySettings().hops


@pytest.mark.parametrize(("passes", "refused", "said"), limits())
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


@pytest.mark.parametrize("asked", [a for a in statements("attacks") if a.refused], ids=str)
def test_guest_is_refused_before_anything_is_sent(asked: Asked) -> None:
    with pytest.raises(RefusedError) as error:
        check_guest(asked.text.replace("{port}", "7"), asked.parameters, HOPS)
    assert error.value.message.startswith(asked.refused or "")
    assert error.value.remedy and "\n" not in error.value.message


def test_attacks_are_many() -> None:
    assert len(statements("attacks")) >= 340
    assert all(asked.refused for asked in statements("attacks", "writes", "elsewhere", "bomb"))


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
    """A driver's result with records of one column."""

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
    assert cut(three, "x" * 495, "y" * 495) == (2, None)
    assert cut(three, "x" * 495, "y" * 496) == (
        1,
        "only the rows of the first 0.001 MB are given (KGRAG_GATEWAY__MEGABYTES)",
    )
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, False)[1]  # type: ignore[arg-type]
    assert row == ({"a": 1},)
    (row,) = read_rows(_Result({"embedding": [0.5] * 8, "a": 1}), three, True)[1]  # type: ignore[arg-type]
    assert row == ({"embedding": [0.5] * 8, "a": 1},)
