"""The wait of a request for the rate limit, by hand."""

from types import SimpleNamespace

import pytest

from kgrag.models.endpoint import Pace


def test_a_minute_has_so_many_requests_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("kgrag.models.endpoint.time", SimpleNamespace(monotonic=lambda: now[0]))
    by_tokens, by_requests = Pace(None, 10), Pace(2, None)
    first = by_tokens.turn(6)
    by_requests.turn(6)
    now[0] += 1
    assert by_tokens._wait(4) <= 0 < by_tokens._wait(5) == 60  # until the first is a minute and a second old
    by_tokens.settle(first, 2)
    assert by_tokens._wait(8) <= 0 < by_tokens._wait(9)
    assert by_requests._wait(10**9) <= 0
    by_requests.turn(1)
    assert by_requests._wait(1) == 60
    now[0] += 60
    assert by_tokens._wait(10) <= 0 and by_requests._wait(1) <= 0
    assert by_tokens._wait(99) <= 0  # exceeds the minute's limit, so it runs alone
    by_tokens.pause(7)
    assert by_tokens._wait(1) == 7
