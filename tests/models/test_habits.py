"""Weak models and incomplete servers: extraction and answers work, or an error shows the remedy."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from habits import BAD, GOOD, Response, Weak, events, reply

from kgrag.agents.answering import AnswerOptions, answer
from kgrag.indexing.fact_rows import Extraction, FactRows
from kgrag.models.chat import Message
from kgrag.models.embed import load_embedder
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import PromptedModel
from kgrag.runtime.limits import limited
from kgrag.settings import ChatSettings, EmbeddingSettings
from kgrag.values.errors import BudgetError, DeadlineError, ModelError, UnavailableError
from kgrag.values.results import Passage

PASSAGES = [Passage("p1", "d1", "Fram", "Colin Archer designed the Fram."), Passage("p2", "d2", "Maud", "A ship.")]
ASKED = [Message("system", "Be short."), Message("user", "Who designed the Fram?")]


@pytest.fixture(scope="module")
def weak() -> Iterator[Weak]:
    with Weak() as server:
        yield server


def settings(weak: Weak, model: str, **changes: Any) -> ChatSettings:
    values: dict[str, Any] = {"base_url": weak.base_url, "api_key": "test-key", "model": model, "retries": 2}
    return ChatSettings(**(values | {"timeout": 20.0} | changes))


def extract(llm: PromptedModel) -> list[str]:
    """Return the facts of a passage that reach the graph."""
    rows = FactRows()
    rows.add("c", "p1", llm.structured("extract", Extraction, title="Fram", text=PASSAGES[0].text))
    return [row["properties"]["text"] for row in rows.triples]


class TestHabits:
    def test_there_are_many(self) -> None:
        assert len(GOOD) >= 22
        assert len(GOOD) + len(BAD) >= 25

    @pytest.mark.parametrize("habit", GOOD)
    def test_facts_query_and_answer_come_through(self, weak: Weak, habit: str) -> None:
        extra = {"extra_body": {"seed": 7}} if habit == "no seed" else {}
        heard: list[str] = []
        with OpenAIChat(settings(weak, habit, **extra)) as model:
            llm = PromptedModel(model)
            assert extract(llm) == ["Fram designed by Colin Archer"]
            given = answer(llm, "Who?", [[p] for p in PASSAGES], AnswerOptions(), short=False, on_text=heard.append)
            query = llm.text("rewrite", question="Who?", facts="", why="")
            first = len(weak.requests[habit])
            assert extract(llm) == ["Fram designed by Colin Archer"]
        assert (given.text, given.found) == ("Colin Archer designed the Fram [1].", True)
        assert [c.number for c in given.citations] == [1]
        assert heard and "designed" in heard[-1]
        assert query == "Who designed the Fram?"
        if habit != "a short context":  # its refusals depend on the length of the request
            assert len(weak.requests[habit]) == first + 1  # kgrag remembers refusals

    @pytest.mark.parametrize("habit", BAD)
    def test_what_cannot_be_coped_with_names_the_remedy(self, weak: Weak, habit: str) -> None:
        _, reason, remedy = BAD[habit]
        with OpenAIChat(settings(weak, habit)) as model, pytest.raises(ModelError, match=reason) as failure:
            extract(PromptedModel(model))
        assert remedy in failure.value.remedy
        assert "test-key" not in str(failure.value)
        fatal = habit not in ("prose", "endless")
        assert isinstance(failure.value, UnavailableError) == fatal
        assert len(weak.requests[habit]) == (1 if fatal else 2)  # no futile retries


class TestWhatIsSent:
    def test_further_parameters_headers_and_an_address_with_a_version(self, weak: Weak) -> None:
        given = settings(
            weak,
            "azure",
            base_url=f"{weak.base_url}/openai/deployments/gpt?api-version=2024-10-21",
            api_key=None,
            extra_headers={"api-key": "very-secret-header"},
            extra_body={"reasoning_effort": "none", "options": {"num_ctx": 8192}},
        )
        with OpenAIChat(given) as model:
            model.chat(ASKED, task="answer")
        assert weak.paths[-1] == "/v1/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
        assert weak.headers[-1]["api-key"] == "very-secret-header"
        assert "authorization" not in weak.headers[-1]
        sent = weak.requests["azure"][-1]
        assert (sent["reasoning_effort"], sent["options"]) == ("none", {"num_ctx": 8192})
        assert "very-secret-header" not in f"{given!r} {given} {model!r}"

    def test_tokens_of_a_task(self, weak: Weak) -> None:
        with OpenAIChat(settings(weak, "tasks", task_tokens={"reason": 99})) as model:
            for task in ("reason", "answer"):
                model.chat(ASKED, task=task)
        assert [sent["max_tokens"] for sent in weak.requests["tasks"]] == [99, 4096]

    def test_embeddings_have_an_address_and_a_key_of_their_own(
        self, weak: Weak, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        own = EmbeddingSettings(base_url=weak.base_url, api_key="embedding-key", batch=2)
        embedder = load_embedder("openai:letters", own)
        assert embedder.embed(["a", "bb", "ccc"]).shape == (3, 3)
        assert weak.headers[-1]["authorization"] == "Bearer embedding-key"
        assert [len(sent["input"]) for sent in weak.requests["letters"]] == [1, 2, 1]

    def test_what_a_budget_depends_on_is_not_left_out(self, weak: Weak) -> None:
        """A server without any reply limit is refused if a budget applies, since the budget depends on it."""
        GOOD["no limit"] = lambda r, t, n: (
            (400, {"error": f"{next(k for k in r if 'tokens' in k)} is not supported"})
            if any("tokens" in k for k in r)
            else GOOD["says it plainly"](r, t, n)
        )
        try:
            with OpenAIChat(settings(weak, "no limit")) as model:
                assert model.chat(ASKED, task="answer").text
            paid = settings(weak, "no limit", prices={"no limit": (1, 1)}, budget=1.0)
            with OpenAIChat(paid) as model, pytest.raises(ModelError, match="max_completion_tokens is not supported"):
                model.chat(ASKED, task="answer")
        finally:
            del GOOD["no limit"]


@pytest.mark.long
class TestTime:
    def test_a_reply_that_trickles_ends(self, weak: Weak) -> None:
        started = time.monotonic()
        with OpenAIChat(settings(weak, "trickles", timeout=0.5, retries=1)) as model:
            with pytest.raises(ModelError, match=r"within 0\.5 seconds, after 2 tries[\s\S]*KGRAG_CHAT__TIMEOUT"):
                model.chat(ASKED, task="answer")
            with limited(deadline=0.3), pytest.raises(DeadlineError):
                model.chat(ASKED, task="answer")
        assert time.monotonic() - started < 5

    def test_retries_and_threads_keep_the_pace(self, weak: Weak) -> None:
        """At three requests a minute, a failed call and a burst make the fourth request wait for the next minute."""
        GOOD["paced"] = GOOD["down at first"]
        answered: list[str] = []
        try:
            model = OpenAIChat(settings(weak, "paced", requests_per_minute=3))

            def attempt() -> None:
                with suppress(DeadlineError), limited(deadline=2):
                    answered.append(model.chat(ASKED, task="answer").text)

            threads = [threading.Thread(target=attempt, daemon=True) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
        finally:
            del GOOD["paced"]
        assert len(weak.requests["paced"]) == 3
        assert len(answered) == 2

    def test_tokens_of_a_minute(self, weak: Weak) -> None:
        """A call reserves the most tokens that it might take while it runs, but only the used ones once it is done."""
        with OpenAIChat(settings(weak, "tokens", tokens_per_minute=1100, max_tokens=1000)) as model:
            assert model.chat(ASKED, task="answer").usage.tokens == 18
            assert model.chat(ASKED, task="answer").text
            with limited(deadline=0.3), pytest.raises(DeadlineError):
                model.chat([Message("user", "long " * 600)], task="answer")
        assert len(weak.requests["tokens"]) == 2

    def test_a_pause_until_a_date_is_kept_by_all_calls(self, weak: Weak) -> None:
        until = formatdate(time.time() + 3, usegmt=True)  # whole seconds: two or three from now
        GOOD["pauses"] = lambda r, t, n: (200, reply(t)[1]) if n else (429, {"error": "Slow down, retry later"}, until)
        try:
            with OpenAIChat(settings(weak, "pauses")) as model, ThreadPoolExecutor(2) as pool:
                first = pool.submit(model.chat, ASKED, task="answer")
                while "pauses" not in weak.requests:
                    time.sleep(0.01)
                time.sleep(0.2)
                begun = time.monotonic()
                assert model.chat([Message("user", "Another")], task="answer").text
                assert time.monotonic() - begun > 1
                assert first.result(10).text
        finally:
            del GOOD["pauses"]
        assert len(weak.requests["pauses"]) == 3

    def test_a_pause_of_a_day_is_not_waited_for(self, weak: Weak) -> None:
        GOOD["closed"] = lambda r, t, n: (429, {"error": "Too many requests. Come back tomorrow"}, "86400")
        try:
            with OpenAIChat(settings(weak, "closed")) as model, pytest.raises(ModelError) as failure:
                model.chat(ASKED, task="answer")
        finally:
            del GOOD["closed"]
        assert len(weak.requests["closed"]) == 1
        assert not isinstance(failure.value, UnavailableError)
        assert "Come back tomorrow" in failure.value.message
        assert "KGRAG_CHAT__REQUESTS_PER_MINUTE" in failure.value.remedy


def test_a_budget_is_kept_where_tokens_are_not_counted(weak: Weak, tmp_path: Path) -> None:
    """kgrag assumes more than a token per four letters, so the budget ends first."""
    prices = {"no usage": (1.0, 1.0)}
    spent = 0.0
    with OpenAIChat(settings(weak, "no usage", prices=prices, budget=0.002, max_tokens=40)) as model:
        with pytest.raises(BudgetError):
            for n in range(1000):
                text = f"Question {n}: " + "which ship sailed where " * 5
                said = model.chat([Message("user", text)], task="answer").text
                spent += (len(text) + len(said)) / 4
        assert spent / 1e6 < model.spent <= 0.002


class TestRefusals:
    def test_a_failure_that_names_no_parameter_changes_nothing(self, weak: Weak) -> None:
        GOOD["broken at first"] = GOOD["failing at first"]
        try:
            with OpenAIChat(settings(weak, "broken at first")) as model:
                extract(PromptedModel(model))
        finally:
            del GOOD["broken at first"]
        kinds = [sent["response_format"]["type"] for sent in weak.requests["broken at first"]]
        assert kinds == ["json_schema", "json_schema"]

    def test_the_next_simpler_form_is_tried_and_remembered(self, weak: Weak) -> None:
        habit = "no json_schema, as a failure"
        with OpenAIChat(settings(weak, habit)) as model:
            begun = len(weak.requests.get(habit, []))
            for _ in range(2):
                extract(PromptedModel(model))
        kinds = [sent["response_format"]["type"] for sent in weak.requests[habit][begun:]]
        assert kinds == ["json_schema", "json_object", "json_object"]

    @pytest.mark.parametrize(
        ("response", "said"),
        [
            (reply("", "content_filter"), "content_filter"),
            (reply("Colin Arch", "content_filter"), "content_filter"),
            (events("Colin Arch", reason="content_filter"), "content_filter"),
            (reply(None, refusal="I cannot help with that."), "I cannot help with that"),
        ],
    )
    def test_a_reply_that_is_withheld_is_told_as_such(self, weak: Weak, response: Response, said: str) -> None:
        GOOD["withheld"] = lambda r, t, n: response
        try:
            with OpenAIChat(settings(weak, "withheld")) as model:
                begun = len(weak.requests.get("withheld", []))
                for call in (extract, lambda llm: llm.text("answer", passages="", question="?", language="en")):
                    with pytest.raises(ModelError, match=f"withheld.*{said}") as failure:
                        call(PromptedModel(model))
                    assert "filter less" in failure.value.remedy
                assert len(weak.requests["withheld"]) == begun + 2  # a retry would not help
        finally:
            del GOOD["withheld"]
