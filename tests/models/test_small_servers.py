"""Servers of small local models: one call at a time, short contexts, endless replies."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import in_thread
import pytest
from habits import GOOD, Habit, Weak, events, reply, said
from test_habits import ASKED, settings, weak

from kgrag.models import probe
from kgrag.models.chat import Message
from kgrag.models.chat_reply import repeats_from
from kgrag.models.endpoint import Endpoint, Slots
from kgrag.models.facts import Facts
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.probe import model_checks
from kgrag.models.prompted import PromptedModel, fewer, numbered, passages_in
from kgrag.runtime.limits import limited
from kgrag.settings import ChatSettings, Settings
from kgrag.values.errors import CancelledError, ModelError, TooLongError
from kgrag.values.events import Called, Event
from kgrag.values.results import Passage

__all__ = ["weak"]

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@contextmanager
def habit(name: str, its: Habit) -> Iterator[str]:
    GOOD[name] = its
    try:
        yield name
    finally:
        del GOOD[name]


class TestOneAtATime:
    def test_streams_that_others_interrupt(self, weak: Weak) -> None:
        """Like llama-cpp-python, the server ends a reply without a reason when another request comes."""
        lock, under_way, most = threading.Lock(), [0], [0]

        def interrupted(request: Any, text: str, before: int) -> Any:
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            time.sleep(0.1)
            with lock:
                others, under_way[0] = under_way[0] > 1, under_way[0] - 1
            return events(reason=None) if others and request.get("stream") else said(request, text)

        with habit("interrupted", interrupted), OpenAIChat(settings(weak, "interrupted", retries=6)) as model:
            asked = [[Message("user", f"Who designed ship {n}?")] for n in range(4)]
            with ThreadPoolExecutor(4) as pool:
                texts = list(pool.map(lambda messages: model.chat(messages, task="answer").text, asked))
            assert set(texts) == {"Colin Archer designed the Fram [1]."}
            assert most[0] > 1
            assert model._slots.limit == 1
            most[0] = 0
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda messages: model.chat(messages, task="answer").text, asked))
            assert most[0] == 1
            assert all("stream" in sent for sent in weak.requests["interrupted"])

    def test_an_error_that_a_stream_does_not_tell(self, weak: Weak) -> None:
        """A stream that ends at once is requested whole, which gives the reason; streams are used again afterwards."""
        refused = (400, {"error": {"message": "Requested tokens (9000) exceed context window of 4096"}})
        mute = lambda r, t, n: said(r, t) if n > 1 else events(reason=None) if r.get("stream") else refused  # noqa: E731
        with habit("mute", mute), OpenAIChat(settings(weak, "mute")) as model:
            with pytest.raises(TooLongError, match="4096") as failure:
                model.chat(ASKED, task="answer")
            assert failure.value.context == 4096
            assert failure.value.share == pytest.approx((4096 - 512) / 9000)
            assert model.chat(ASKED, task="answer").text
        assert ["stream" in sent for sent in weak.requests["mute"]] == [True, False, True]

    def test_streams_end_after_the_second_break_in_a_row(self, weak: Weak) -> None:
        breaks = iter([True, False, True, True])
        cut = lambda r, t, n: events(t, reason=None) if r.get("stream") and next(breaks) else said(r, t)  # noqa: E731
        with habit("cut", cut), OpenAIChat(settings(weak, "cut")) as model:
            for number in range(5):
                assert model.chat([Message("user", f"Ship {number}?")], task="answer").text
        forms = "".join("s" if "stream" in sent else "w" for sent in weak.requests["cut"])
        assert forms == "swsswsww", "streamed or whole"

    def test_places(self) -> None:
        slots = Slots(8)
        with slots.one() as first, slots.one() as second:
            slots.late(first)
            slots.late(second)  # same wave
        assert not first.alone
        assert slots.limit == 4
        for _ in range(4):
            slots.good()
        assert slots.limit == 5
        slots.one_at_a_time()
        for _ in range(9):
            slots.good()
        assert slots.limit == 1


class TestEnds:
    @pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
    @pytest.mark.parametrize("streams", [True, False])
    def test_a_limit_is_known_by_any_name(self, weak: Weak, reason: str, *, streams: bool) -> None:
        ended = lambda r, t, n: events(t, reason=reason) if streams else reply(t, reason)  # noqa: E731
        with habit("limited", ended), OpenAIChat(settings(weak, "limited")) as model:
            assert model.chat(ASKED, task="answer").cut

    @pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource"])
    def test_a_failure_of_the_server_is_an_interruption(self, weak: Weak, reason: str) -> None:
        failing = lambda r, t, n: said(r, t) if n else events("Colin", reason=reason)  # noqa: E731
        with habit("failing", failing), OpenAIChat(settings(weak, "failing")) as model:
            assert model.chat(ASKED, task="answer").text == "Colin Archer designed the Fram [1]."

    def test_a_stream_without_end_and_a_reply_without_reason_are_not_whole(self, weak: Weak) -> None:
        """If neither a stream nor a whole reply marks its end, this question and the next are marked as incomplete."""
        silent = lambda r, t, n: events(t, reason=None) if r.get("stream") else reply(t, "")  # noqa: E731
        with habit("silent", silent), OpenAIChat(settings(weak, "silent")) as model:
            assert [model.chat(ASKED, task="answer").cut for _ in range(2)] == [True, True]


class TestJson:
    def test_a_schema_beside_json_object(self, weak: Weak) -> None:
        def takes_it_there(request: Any, text: str, before: int) -> Any:
            kind = request.get("response_format", {})
            if kind.get("type") == "json_schema":
                return 500, {"error": {"message": "body.response_format.type: Input should be 'text' or 'json_object'"}}
            return said(request, json.dumps(kind))

        with habit("beside", takes_it_there), OpenAIChat(settings(weak, "beside")) as model:
            reply = model.chat(ASKED, task="answer", json=SCHEMA)
            assert json.loads(reply.text) == {"type": "json_object", "schema": SCHEMA}
            assert model.json_form("answer") == "json_object and a schema"

    def test_no_schema_there_either(self, weak: Weak) -> None:
        def plain(request: Any, text: str, before: int) -> Any:
            kind = request.get("response_format", {})
            if kind.get("type") == "json_schema" or "schema" in kind:
                return 400, {"error": {"message": "Unknown parameter: 'response_format.schema'."}}
            return said(request, json.dumps(kind))

        with habit("plain", plain), OpenAIChat(settings(weak, "plain")) as model:
            assert json.loads(model.chat(ASKED, task="answer", json=SCHEMA).text) == {"type": "json_object"}
            assert model.json_form("answer") == "json_object"


class TestRepetition:
    def test_a_reply_without_end_is_ended_and_counted(self, weak: Weak) -> None:
        story = "The ship:" + " she sails on and on," * 400
        with habit("story", lambda r, t, n: said(r, story)), OpenAIChat(settings(weak, "story")) as model:
            reply = model.chat(ASKED, task="answer")
        assert reply.text == "The ship: she sails on and on,"
        assert reply.cut
        assert 100 < reply.usage.completion_tokens < 400  # the tokens until the end
        assert len(weak.requests["story"]) == 1  # no retry with a larger limit

    def test_the_facts_before_it_are_kept(self, weak: Weak) -> None:
        facts = '{"triples": [["Fram", "designed by", "Colin Archer"],' + ' ["Fram", "is", "a ship"],' * 200
        with habit("facts", lambda r, t, n: said(r, facts)), OpenAIChat(settings(weak, "facts")) as model:
            found = PromptedModel(model).structured("read", Facts, passages="[1]", question="Who?")
        assert found.triples == [("Fram", "designed by", "Colin Archer"), ("Fram", "is", "a ship")]

    @pytest.mark.parametrize("unit", ["a", " ab", ' ["Fram", "is", "a ship"],', "x" * 149 + "y" * 150])
    def test_where_it_begins(self, unit: str) -> None:
        text = "Once upon a time:" + unit * (900 // len(unit) + 2)
        assert repeats_from(text) == len("Once upon a time:") + len(unit)
        told = "and so it ended: Colin Archer, whose parents were Scottish, drew pilot boats, yachts, and a polar ship "
        told += "for Nansen, who left Vardø in July 1893"
        assert repeats_from(text + told) is None

    def test_a_word_that_changes_each_time(self) -> None:
        told = "The Fram was built in Larvik by Colin Archer. "
        text = told + "".join(f"{n}. The ship sailed north, and on. " for n in range(40))
        ends = {shown: repeats_from(text[:shown]) for shown in range(0, len(text), 50)}
        assert [shown for shown, end in ends.items() if end is None][-1] < len(told) + 800
        assert all(end in (None, shown) for shown, end in ends.items())

    def test_what_is_no_repetition(self) -> None:
        counted = ", ".join(f'["Ship {n}", "launched in", "{1800 + n}"]' for n in range(60))
        assert repeats_from(counted) is None
        assert repeats_from("a" * 500) is None  # too short to tell
        assert repeats_from(" " * 700) is None


class TestTokens:
    def test_what_is_lost_is_counted(self, weak: Weak) -> None:
        """Interrupted and failed replies are counted in their spans."""
        long = "Colin Archer designed the Fram. " * 10
        cut = events(long, reason=None)
        with habit("cuts", lambda r, t, n: said(r, t) if n else cut), OpenAIChat(settings(weak, "cuts")) as model:
            usage = model.chat(ASKED, task="answer").usage
        assert usage.completion_tokens == 9 + len(long) // 2
        heard: list[Event] = []
        paid = settings(weak, "cuts always", retries=1, prices={"cuts always": (0, 1)})
        with habit("cuts always", lambda r, t, n: cut if r.get("stream") else (500, "down")), OpenAIChat(paid) as model:
            with pytest.raises(ModelError):
                PromptedModel(model, listener=heard.append).text("rewrite", question="Who?", facts="", why="")
            assert model.spent == pytest.approx(len(long) / 2 / 1e6)
        (called,) = heard
        assert isinstance(called, Called)
        assert called.usage.completion_tokens == len(long) // 2


class TestContext:
    @pytest.mark.parametrize(
        "message",
        [
            "This model's maximum context length is 2000 tokens. However, you requested 2600 tokens (2400 in the "
            "messages, 200 in the completion).",
            "the request exceeds the available context size (2000 tokens), n_prompt_tokens: 2400",
            "Requested tokens (2400) exceed context window of 2000",
        ],
    )
    def test_the_last_passages_are_left_out(self, weak: Weak, message: str) -> None:
        passages = [
            Passage(f"p{n}", "d", f"Ship {n}", "She was built in Larvik by Colin Archer. " * 12) for n in range(6)
        ]

        def short(request: Any, text: str, before: int) -> Any:
            size = sum(len(m["content"]) for m in request["messages"])
            return (400, {"error": {"message": message}}) if size > 2600 else said(request, text)

        with habit("short", short), OpenAIChat(settings(weak, "short", max_tokens=200)) as model:
            shown = numbered([p] for p in passages)
            assert PromptedModel(model).text("think", passages=shown, question="Who?", thoughts="")
        first, *_, last = (m["messages"][-1]["content"] for m in weak.requests.pop("short"))
        assert len(passages_in(first)) == 6
        assert "Ship 0" in last
        assert "Ship 5" not in last
        assert last.endswith("Next sentence:")

    def test_one_passage_that_is_too_long_is_refused(self, weak: Weak) -> None:
        full = (400, {"error": {"message": "maximum context length is 10 tokens"}})
        shown = numbered([[Passage("p", "d", "Fram", "A ship.")]])
        with (
            habit("tiny", lambda r, t, n: full),
            OpenAIChat(settings(weak, "tiny", max_tokens=100)) as model,
            pytest.raises(TooLongError) as failure,
        ):
            PromptedModel(model).text("think", passages=shown, question="?", thoughts="")
        assert "longer context" in failure.value.remedy

    def test_fewer(self) -> None:
        shown = "Known facts:\n(none)\n\n" + numbered([[Passage("p", "d", "T", "x" * 50)]] * 3)
        one = fewer(shown, 150)
        assert one.startswith("Known facts:")
        assert one.count("<passage>") == 1
        assert fewer(shown, 5).count("<passage>") == 2
        assert fewer(shown, 10_000) == one
        assert fewer(one, 1) == ""
        assert fewer("", 10) == ""


def test_a_silent_server_is_left(weak: Weak) -> None:
    """If a reply stalls after its start, the caller can cancel, which closes the connection."""
    left = threading.Event()

    class Handler(in_thread.Handler):
        def post(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.flush()
            if self.connection.recv(1) == b"":
                left.set()

    flag = threading.Event()
    with in_thread.InThread(Handler) as silent:
        threading.Timer(0.5, flag.set).start()
        began = time.monotonic()
        given = ChatSettings(base_url=silent.base_url, model="m", timeout=20)
        with OpenAIChat(given) as model, limited(cancelled=flag), pytest.raises(CancelledError):
            model.chat(ASKED, task="answer")
        assert time.monotonic() - began < 3
        assert left.wait(3)


PAGES: Mapping[str, Mapping[str, Any]] = {
    "llama.cpp": {"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}},
    "LM Studio": {"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 4096}, {"id": "other"}]}},
    "Ollama": {"/api/ps": {"models": [{"name": "other", "context_length": 1}, {"name": "m", "context_length": 4096}]}},
    "vLLM": {"/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]}},
}


class TestDoctor:
    @pytest.mark.parametrize("server", PAGES)
    def test_the_context_that_a_server_tells(self, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        pages = PAGES[server]

        class Handler(in_thread.Handler):
            def get(self) -> None:
                self.say(200 if self.path in pages else 404, json.dumps(pages.get(self.path, {})).encode())

            def post(self) -> None:
                request = self.body()
                reply = '{"triples": [["Halcyon", "built at", "Norfjord shipyard"]]}'
                content = said(request, reply if "response_format" in request else "She was wrecked.")[1]
                self.say(200, content, "text/event-stream" if content.startswith(b"data:") else "application/json")

        with in_thread.InThread(Handler) as served:
            chat = ChatSettings(base_url=served.base_url, model="m")
            found = {check.name: check for check in model_checks(Settings(_env_file=None, chat=chat))}  # type: ignore[call-arg]
            monkeypatch.setitem(sys.modules, "httpx", None)  # newer openai clients work without it
            assert probe.report(Endpoint(served.base_url, "", {}), "m") == 4096
        assert found["Context"].detail == "4,096 tokens"
        assert not found["Context"].ok
        assert found["JSON"].detail == "by json_schema; it read 1 facts in a passage"
        assert found["Language model"].ok

    def test_no_server_and_no_model(self) -> None:
        gone = ChatSettings(base_url="http://127.0.0.1:1/v1", model="m")
        (failed,) = model_checks(Settings(_env_file=None, chat=gone))  # type: ignore[call-arg]
        assert not failed.ok
        assert "KGRAG_CHAT__BASE_URL" in failed.remedy
        (none,) = model_checks(Settings(_env_file=None))  # type: ignore[call-arg]
        assert none.ok
        assert "KGRAG_CHAT__MODEL" in none.detail
