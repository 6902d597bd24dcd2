"""Language models over HTTP: costs of calls, budgets, and rate limits."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from asking import ASKED, ask, chat
from scripted import Scripted

from kgrag.models.openai_chat import OpenAIChat
from kgrag.values.errors import BudgetError, ConfigurationError, ModelError

PRICES = {"answer": (0.0, 1e6)}
"""Price 1 for each completion token."""


class TestBudget:
    def test_a_model_without_a_price(self, scripted: Scripted) -> None:
        with pytest.raises(ConfigurationError, match=r"no price of other, read[\s\S]*KGRAG_CHAT__PRICES"):
            OpenAIChat(scripted.settings(models={"read": "read"}, budget=1.0))

    def test_never_crossed_by_many_threads(self, scripted: Scripted) -> None:
        """Each call costs 2 and could cost 5, within 24: ten fit, since 4 remain then."""
        scripted.say("answer", "Colin Archer.")
        scripted.delay(0.02)
        settings = scripted.settings(models={}, model="answer", prices=PRICES, budget=24, max_tokens=5)

        def attempt(_: int) -> str:
            try:
                return ask(model).text
            except BudgetError as error:
                return error.message

        with OpenAIChat(settings) as model, ThreadPoolExecutor(8) as pool:
            said = list(pool.map(attempt, range(40)))
            assert model.spent == 20
        assert said.count("Colin Archer.") == len(scripted.attempts) == 10
        assert set(said) == {
            "Colin Archer.",
            "The next call could cost 5.0000, and 20.0000 of the budget of 24 is spent.",
        }

    def test_the_longest_prompt_is_counted_by_bytes(self, scripted: Scripted) -> None:
        sent = sum(len(m.content) + 16 for m in ASKED)
        for budget, calls in ((sent + 5, 1), (sent + 4.9, 0)):
            scripted.reset()
            prices = {"answer": (1e6, 1e6)}
            with chat(scripted, models={}, model="answer", prices=prices, budget=budget, max_tokens=5) as model:
                if calls:
                    ask(model)
                else:
                    with pytest.raises(BudgetError):
                        ask(model)
            assert len(scripted.attempts) == calls

    def test_a_call_that_failed_leaves_its_room_to_others(self, scripted: Scripted) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("401")
        with chat(scripted, models={}, model="answer", prices=PRICES, budget=5, max_tokens=5) as model:
            with pytest.raises(ModelError, match="refuses the key"):
                ask(model)
            assert ask(model).usage.cost == 2.0

    def test_kept_replies_need_none(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.")
        with chat(scripted, tmp_path) as model:
            ask(model)
        with chat(scripted, tmp_path, models={}, model="answer", prices=PRICES, budget=0) as model:
            assert ask(model).usage.cached == 1


class TestPace:
    def test_calls_under_way_are_bounded(self, scripted: Scripted) -> None:
        scripted.delay(0.05)
        with chat(scripted, concurrency=3) as model, ThreadPoolExecutor(9) as pool:
            list(pool.map(lambda _: ask(model), range(12)))
        assert scripted.most_under_way == 3

    def test_calls_of_a_minute_are_bounded(self) -> None:
        def attempt() -> None:
            with suppress(ModelError):  # the third call ends long after this test
                ask(model)

        with Scripted() as server:
            model = OpenAIChat(server.settings(requests_per_minute=2, retries=0))
            for _ in range(3):
                threading.Thread(target=attempt, daemon=True).start()
            deadline = time.monotonic() + 10
            while len(server.calls) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            assert len(server.attempts) == 2

    @pytest.mark.parametrize("threads", [0, 4])
    def test_ctrl_c_ends_it_at_once(self, scripted: Scripted, threads: int) -> None:
        scripted.delay(20)
        program = (
            "from kgrag.models.chat import Message\n"
            "from kgrag.models.openai_chat import load_chat\n"
            "from kgrag.models.parallel import in_parallel\n"
            "from kgrag.settings import Settings\n"
            "model = load_chat(Settings(_env_file=None))\n"
            "ask = lambda n: model.chat([Message('user', str(n))], task='answer')\n"
            + (f"list(in_parallel(ask, range(9), {threads}))" if threads else "ask(1)")
        )
        env = os.environ | scripted.env()
        process = subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while len(scripted.attempts) < max(threads, 1) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, said = process.communicate(timeout=15)
        assert time.monotonic() - started < 10
        assert "KeyboardInterrupt" in said
