"""What the gateway refuses by its rules on tokens, before anything is sent: no server is needed."""

import pytest
from gateway_attacks import BOMBS, CUT, ELSEWHERE, HEAVIER, HEAVY, ODD, WRITES

from kgrag.graph.gateway.run import prepared
from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError


def test_there_are_enough() -> None:
    assert len(set(WRITES + ELSEWHERE) | {s for s, _ in BOMBS + HEAVY + HEAVIER + CUT + ODD}) >= 300


@pytest.mark.parametrize("statement", WRITES + ELSEWHERE)
def test_refused_before_anything_is_sent(statement: str) -> None:
    with pytest.raises(RefusedError) as error:
        prepared(statement.replace("{port}", "7"), {"url": "file:///secret.csv", "key": "x"}, GatewaySettings())
    assert error.value.message and error.value.remedy
    assert "\n" not in error.value.message
