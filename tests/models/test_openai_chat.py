"""Language models over HTTP: requests, retries, the cache, costs, and error messages."""

import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asking import ASKED, ask, chat
from scripted import Scripted

from kgrag.models.chat import CachedReply, Message, Reply, ReplyCache
from kgrag.models.endpoint import Endpoint
from kgrag.models.openai_chat import OpenAIChat, load_chat
from kgrag.settings import ChatSettings, Settings
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError
from kgrag.values.results import Usage


class TestRequest:
    def test_model_of_the_task_and_parameters(self, scripted: Scripted) -> None:
        scripted.say("strong", "Colin Archer.")
        with chat(scripted, models={"answer": "strong"}, max_tokens=7) as model:
            reply = ask(model)
            assert model.name("answer") == "strong"
            assert model.name("read") == "other"
        assert reply == Reply("Colin Archer.", "strong", Usage(1, 0, 6, 2, None))
        (call,) = scripted.calls
        assert call == {
            "task": "strong",
            "fault": None,
            "model": "strong",
            "messages": [{"role": m.role, "content": m.content} for m in ASKED],
            "max_tokens": 7,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def test_what_a_server_does_not_take_is_left_out(self, scripted: Scripted) -> None:
        with chat(scripted, temperature=None, limit="max_completion_tokens", json_mode="none") as model:
            ask(model, json={"type": "object"})
        (call,) = scripted.calls
        assert call["max_completion_tokens"] == 4096
        assert not {"temperature", "response_format", "max_tokens"} & call.keys()

    def test_json_is_asked_for(self, scripted: Scripted) -> None:
        with chat(scripted) as model:
            ask(model, json={"type": "object"})
        sent = scripted.calls[0]["response_format"]
        assert sent == {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        }

    def test_reply_is_heard_while_it_grows(self, scripted: Scripted) -> None:
        scripted.say("answer", "Colin Archer did.")
        heard: list[str] = []
        with chat(scripted) as model:
            reply = ask(model, on_text=heard.append)
        assert heard == ["Colin ", "Colin Archer ", "Colin Archer did."]
        assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("Colin Archer did.", 6, 3)

    @pytest.mark.parametrize("stream", [False, True])
    def test_reply_that_grew_too_long_is_cut(self, scripted: Scripted, stream: bool) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("truncated")
        with chat(scripted) as model:
            reply = ask(model, on_text=(lambda text: None) if stream else None)
        assert (reply.text, reply.cut) == ("Colin ", True)

    @pytest.mark.parametrize("stream", [False, True])
    def test_tokens_are_estimated_where_the_server_counts_none(self, scripted: Scripted, stream: bool) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("uncounted")
        with chat(scripted) as model:
            usage = ask(model, on_text=(lambda text: None) if stream else None).usage
        assert (usage.prompt_tokens, usage.completion_tokens) == (16, 7)  # 31 and 13 letters

    def test_temperature_none_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KGRAG_CHAT__TEMPERATURE", "none")
        assert Settings(_env_file=None).chat.temperature is None  # type: ignore[call-arg]

    def test_empty_variables_are_unset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("MODEL", "PROMPTS", "PRICES", "BUDGET"):
            monkeypatch.setenv(f"KGRAG_CHAT__{name}", "")
        assert Settings(_env_file=None).chat == ChatSettings()  # type: ignore[call-arg]

    def test_environment_of_a_scripted_server_is_its_settings(
        self, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in scripted.env(budget=2.5, prices={"other": (1, 2)}).items():
            monkeypatch.setenv(name, value)
        read = Settings(_env_file=None).chat  # type: ignore[call-arg]
        assert read == scripted.settings(budget=2.5, prices={"other": (1, 2)})


class TestRetries:
    LOST = ("429", "500", "timeout", "cut", "cut-error", "malformed", "html")

    @pytest.mark.long
    def test_what_brought_no_reply_is_asked_again(self, scripted: Scripted) -> None:
        """Each fault is retried once, with and without a stream, in parallel."""
        tasks = [f"{fault}/{kind}" for fault in self.LOST for kind in ("whole", "stream")]
        for task in tasks:
            scripted.say(task, "Colin Archer.")
            scripted.fail(task.partition("/")[0], task=task)
        options = {"models": {t: t for t in tasks}, "retries": 1, "concurrency": len(tasks)}
        with chat(scripted, **options) as model, chat(scripted, timeout=2.0, **options) as hasty:

            def attempt(task: str) -> str:
                asked = hasty if "timeout" in task else model
                return ask(asked, task, on_text=(lambda text: None) if "stream" in task else None).text

            with ThreadPoolExecutor(len(tasks)) as pool:
                assert list(pool.map(attempt, tasks)) == ["Colin Archer."] * len(tasks)
        assert sorted(call["task"] for call in scripted.calls) == sorted(tasks)
        assert len(scripted.attempts) == 2 * len(tasks)

    @pytest.mark.long
    def test_no_reply_after_all_retries(self, scripted: Scripted) -> None:
        expected = {
            "429": "KGRAG_CHAT__CONCURRENCY", "500": "Try again later", "timeout": "KGRAG_CHAT__TIMEOUT",
            "cut": "No whole reply", "cut-error": "No whole reply", "malformed": "No whole reply",
            "html": "Please log in", "quota": "quota",
        }  # fmt: skip
        for fault in expected:
            scripted.fail(fault, fault, task=fault)
        options = {"models": {t: t for t in expected}, "retries": 1}
        with chat(scripted, **options) as model, chat(scripted, timeout=0.5, **options) as hasty:

            def attempt(task: str) -> str:
                with pytest.raises(ModelError) as failure:
                    ask(hasty if task == "timeout" else model, task)
                return str(failure.value)

            with ThreadPoolExecutor(8) as pool:
                said = dict(zip(expected, pool.map(attempt, expected), strict=True))
        assert {task: text for task, text in said.items() if expected[task] not in text} == {}
        assert len(scripted.attempts) == 2 * len(expected) - 1  # an exhausted quota is not retried

    def test_retry_after_is_waited_for(self, scripted: Scripted) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("429:1")
        started = time.monotonic()
        with chat(scripted) as model:
            assert ask(model).text == "Colin Archer."
        assert time.monotonic() - started >= 1

    @pytest.mark.long
    def test_all_kinds_of_retries_share_one_bound(self, scripted: Scripted) -> None:
        scripted.fail("malformed", "500", "html", "500")
        with chat(scripted, retries=2) as model, pytest.raises(ModelError, match="No whole reply"):
            ask(model)
        assert len(scripted.attempts) == 3

    def test_a_stream_that_was_cut_begins_again(self, scripted: Scripted) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("cut")
        heard: list[str] = []
        with chat(scripted) as model:
            reply = ask(model, on_text=heard.append)
        assert "this reply " in heard
        assert heard[-2:] == ["Colin ", "Colin Archer."]
        assert reply.text == "Colin Archer."

    def test_an_error_of_the_listener_is_not_the_servers(self, scripted: Scripted) -> None:
        def listen(text: str) -> None:
            raise ZeroDivisionError

        with chat(scripted) as model, pytest.raises(ZeroDivisionError):
            ask(model, on_text=listen)
        assert len(scripted.attempts) == 1


class TestCache:
    def test_a_kept_reply_is_free_and_counts(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.", "Someone else.")
        with chat(scripted, tmp_path, prices={"answer": (1e6, 1e6)}) as model:
            first = ask(model)
            again = ask(model)
        assert first.usage == Usage(1, 0, 6, 2, 8.0)
        assert again == Reply("Colin Archer.", "answer", Usage(1, 1, 6, 2, 0.0))
        heard: list[str] = []
        with chat(scripted, tmp_path) as model:  # like another process
            assert ask(model, on_text=heard.append).text == "Colin Archer."
        assert heard == ["Colin Archer."]
        assert len(scripted.calls) == 1

    def test_fresh_is_asked_for_and_kept(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.", "Someone else.")
        with chat(scripted, tmp_path) as model:
            ask(model)
            assert ask(model, fresh=True).text == "Someone else."
            assert ask(model).text == "Someone else."
        assert len(scripted.calls) == 2

    @pytest.mark.parametrize(
        "change",
        [{"temperature": 0.5}, {"max_tokens": 9}, {"models": {"answer": "other"}}, {"limit": "max_completion_tokens"}],
    )
    def test_everything_that_is_sent_matters(self, scripted: Scripted, tmp_path: Path, change: dict[str, Any]) -> None:
        for changes in ({}, change):
            with chat(scripted, tmp_path, **changes) as model:
                ask(model)
        assert len(scripted.calls) == 2

    def test_messages_json_and_server_matter(self, scripted: Scripted, tmp_path: Path) -> None:
        with chat(scripted, tmp_path) as model:
            ask(model)
            ask(model, json={"type": "object"})
            model.chat([*ASKED, Message("user", "Quick.")], task="answer")
        with chat(scripted, tmp_path, base_url=scripted.base_url.replace("127.0.0.1", "localhost")) as model:
            ask(model)
        assert len(scripted.calls) == 4

    def test_an_empty_reply_is_not_kept(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.fail("empty")
        with chat(scripted, tmp_path) as model:
            assert ask(model).text == ""
            assert ask(model).text == "Colin Archer."

    def test_the_same_call_of_many_threads_is_made_once(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.")
        scripted.delay(0.1)
        with chat(scripted, tmp_path) as model, ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: ask(model), range(8)))
        assert {reply.text for reply in replies} == {"Colin Archer."}
        assert sum(reply.usage.cached for reply in replies) == 7
        assert len(scripted.calls) == 1

    def test_a_kept_reply_takes_neither_client_nor_connection(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.")
        with chat(scripted, tmp_path / "chat", models={}, model="answer") as model:
            ask(model)
        program = (
            "import sys\n"
            "from kgrag.models.chat import Message\n"
            "from kgrag.models.openai_chat import load_chat\n"
            "from kgrag.settings import Settings\n"
            "with load_chat(Settings(_env_file=None)) as model:\n"
            f"    reply = model.chat({ASKED!r}, task='answer')\n"
            "assert 'openai' not in sys.modules\n"
            "print(reply.text, reply.usage.cached)\n"
        )
        env = os.environ | scripted.env(models={}, model="answer", cache=True) | {"KGRAG_CACHE": str(tmp_path)}
        ended = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        assert ended.stdout == "Colin Archer. 1\n"
        assert len(scripted.calls) == 1

    def test_a_kept_reply_that_cannot_be_read_is_asked_for_again(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("answer", "Colin Archer.")
        with chat(scripted, tmp_path) as model:
            ask(model)
        with closing(sqlite3.connect(tmp_path / "replies.sqlite3")) as file, file:
            file.execute("""UPDATE replies SET reply = '{"text": "in another form"}'""")
        with chat(scripted, tmp_path) as model:
            assert ask(model).text == "Colin Archer."
        assert len(scripted.calls) == 2

    def test_nobody_else_reads_what_is_kept(self, tmp_path: Path) -> None:
        with ReplyCache(tmp_path / "chat") as cache:
            cache.put("key", CachedReply("Colin Archer.", 3, 2, False))
            assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "chat").iterdir()} == {0o600}
        assert stat.S_IMODE((tmp_path / "chat").stat().st_mode) == 0o700

    def test_a_folder_that_cannot_be_used(self, scripted: Scripted, tmp_path: Path) -> None:
        (tmp_path / "chat").write_text("not a folder")
        with pytest.raises(ConfigurationError, match="KGRAG_CHAT__CACHE=false"):
            load_chat(Settings(_env_file=None, cache=tmp_path, chat=scripted.settings(cache=True)))  # type: ignore[call-arg]


class TestErrors:
    @pytest.mark.parametrize(
        ("fault", "remedy"),
        [
            ("404:The model does not exist", "There is no model 'answer' [\\s\\S]*KGRAG_CHAT__MODEL"),
            ("401", "OPENAI_API_KEY"),
            ("403", "OPENAI_API_KEY"),
            ("402:Payment required", "quota[\\s\\S]*use another key"),
            ("400:The model answer does not exist", "There is no model"),
            ("400:response_format is not supported", "KGRAG_CHAT__JSON_MODE=none"),  # though none was sent
            ("400:maximum context length is 8192 tokens; lower max_tokens", "longer context"),
            ("418:I am a teapot", "I am a teapot"),
        ],
    )
    def test_refused_at_once_with_the_remedy(self, scripted: Scripted, fault: str, remedy: str) -> None:
        scripted.fail(*[fault] * 6)
        with chat(scripted) as model, pytest.raises(ModelError, match=remedy) as failure:
            ask(model)
        assert isinstance(failure.value, UnavailableError) == (
            fault[:3] in ("401", "402", "403", "404") or "does not exist" in fault
        )
        assert len(scripted.attempts) == (1 if "context" not in fault else 6)  # 4096 tokens, then down to 128

    def test_no_server_is_told_at_once(self) -> None:
        started = time.monotonic()
        settings = ChatSettings(model="qwen", base_url="http://someone:pass-word@localhost:1/v1")
        with OpenAIChat(settings) as model, pytest.raises(UnavailableError) as failure:
            ask(model)
        assert time.monotonic() - started < 5
        assert str(failure.value).startswith("No connection to http://localhost:1/v1: ")
        assert "Is the server running? The address is KGRAG_CHAT__BASE_URL" in str(failure.value)

    def test_secrets_are_never_shown(self, scripted: Scripted) -> None:
        secret = "sk-very-secret-1234"
        scripted.fail(f"401:Incorrect API key provided: {secret}.")
        settings = scripted.settings(api_key=secret)
        with OpenAIChat(settings) as model, pytest.raises(ModelError) as failure:
            ask(model)
        assert "Incorrect API key provided: ***" in str(failure.value)
        login = OpenAIChat(scripted.settings(api_key=secret, base_url="http://someone:sk-very-secret@host/v1"))
        shown = f"{failure.value!r} {failure.value} {settings!r} {settings} {model!r} {login!r} {login}"
        assert "sk-very-secret" not in shown
        assert scripted.attempts[0]["headers"]["authorization"] == f"Bearer {secret}"

    @pytest.mark.parametrize("model", [None, ""])
    def test_no_model(self, model: str | None) -> None:
        with pytest.raises(ConfigurationError) as failure:
            load_chat(Settings(_env_file=None, chat=ChatSettings(model=model)))  # type: ignore[call-arg]
        assert failure.value.message == "No language model is configured."
        for part in ("KGRAG_CHAT__MODEL", "OPENAI_API_KEY", "KGRAG_CHAT__BASE_URL=http://localhost:11434/v1"):
            assert part in failure.value.remedy

    def test_no_key_for_the_hosted_server(self) -> None:
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            OpenAIChat(ChatSettings(model="gpt"))

    def test_an_address_that_is_none(self) -> None:
        with pytest.raises(ConfigurationError, match="'localhost:11434/v1' is no address"):
            OpenAIChat(ChatSettings(model="qwen", base_url="localhost:11434/v1"))

    def test_openai_environment(self, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", scripted.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
        scripted.say("gpt", "Colin Archer.")
        with OpenAIChat(ChatSettings(model="gpt")) as model:
            assert ask(model).text == "Colin Archer."
        assert scripted.attempts[0]["headers"]["authorization"] == "Bearer from-outside"


def test_the_address_of_a_server_is_shown_without_its_password() -> None:
    for address in ("http://me:se/cret@127.0.0.1:1/v1", "http://me:secr#et@127.0.0.1:1/v1"):
        shown = Endpoint.of("CHAT", "m", address, None, {}).address
        assert "cret" not in shown and "secr" not in shown and "et@" not in shown, shown
