"""The engine of processes: order, errors, lost workers, and work that cannot be sent to them."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kgrag.engines import IN_PROCESS, Engine, Processes, open_engine
from kgrag.models.embed import DeferredEmbedder, load_embedder
from kgrag.settings import EngineSettings
from kgrag.text.languages import ENGLISH, language_of
from kgrag.values.errors import ConfigurationError, EngineError, InputError
from kgrag.values.installing import install_hint


def _double(number: int) -> tuple[int, int]:
    return os.getpid(), 2 * number


def _count_to(number: int) -> object:
    return iter(range(number))


def _refuse(number: int) -> int:
    if number == 3:
        raise InputError("Three is not read.", "Leave it out.")
    return number


def _die_once(marks: Path, number: int) -> int:
    """End the process at number 4, but only the first time."""
    mark = marks / str(number)
    if number == 4 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _die(driver: int, number: int) -> int:
    if number == 4 and os.getpid() != driver:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("forked", [False, True])
def test_many_items_are_spread_and_few_are_not(forked: bool) -> None:
    engine = Processes(2, forked=forked)
    found = list(engine.each(_double, range(20)))
    assert [(item, doubled) for item, (_, doubled) in found] == [(n, 2 * n) for n in range(20)]
    workers = {pid for _, (pid, _) in found[2:]}
    assert os.getpid() not in workers and len(workers) <= 2
    assert {pid for _, (pid, _) in engine.each(_double, range(2))} == {os.getpid()}
    assert [list(numbers) for _, numbers in engine.each(_count_to, [1, 2, 3])] == [[0], [0, 1], [0, 1, 2]]


def test_items_are_taken_a_few_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    for number, _ in enumerate(Processes(2).each(_double, items()), 1):
        assert taken <= number + 4
        if number == 20:
            break


def test_the_error_of_a_worker_is_the_callers() -> None:
    with pytest.raises(InputError) as raised:
        list(Processes(2).each(_refuse, range(10)))
    assert (raised.value.message, raised.value.remedy) == ("Three is not read.", "Leave it out.")


def test_a_lost_worker_costs_what_it_was_doing(tmp_path: Path) -> None:
    found = [result for _, result in Processes(2).each(partial(_die_once, tmp_path), range(30))]
    assert found == list(range(30)) and (tmp_path / "4").exists()
    with pytest.raises(EngineError, match=r"3 workers ended at the same work"):
        list(Processes(2).each(partial(_die, os.getpid()), range(30)))


def test_an_interrupt_ends_it() -> None:
    threading.Timer(1.0, signal.raise_signal, (signal.SIGINT,)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(Processes(2).each(time.sleep, [0, 0] + [0.2] * 1000))
    assert time.monotonic() - started < 30


def test_what_cannot_be_sent_is_refused() -> None:
    lock = threading.Lock()
    with pytest.raises(ConfigurationError, match=r"cannot be sent to other processes") as raised:
        list(Processes(2).each(lambda n: lock.locked() or n, range(10)))
    assert "name an embedder" in raised.value.remedy


def test_languages_and_embedders_are_sent_by_name() -> None:
    import pickle

    assert pickle.loads(pickle.dumps(ENGLISH)) is ENGLISH
    assert pickle.loads(pickle.dumps(language_of("de"))) is language_of("de")
    model = load_embedder("wordllama")
    deferred = DeferredEmbedder(model.name, model.dimension, lambda: model)
    sent = pickle.dumps(deferred)
    assert len(sent) < 200
    assert (pickle.loads(sent).embed(["a ship"]) == model.embed(["a ship"])).all()


def test_the_settings_name_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Engine] = [open_engine(EngineSettings(name=name)) for name in ("here", "processes")]
    assert [type(engine).__name__ for engine in found] == ["InProcess", "Processes"] and IN_PROCESS is not found[0]
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"needs the package Ray") as raised:
        open_engine(EngineSettings(name="ray"))
    assert install_hint("ray") in raised.value.remedy
