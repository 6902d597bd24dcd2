"""Every use of a language model, with a real one that is far too small: nothing hangs, nothing is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from conftest import PASSAGES, LlamaServer
from every_task import SHAPES, said_in_words, task, values
from naming import own
from world import world

from kgrag import KnowledgeGraph
from kgrag.agents.system import STRATEGIES
from kgrag.models.chat import Message
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.probe import model_checks
from kgrag.models.prompted import PromptedModel, numbered, reply_schema, shaped
from kgrag.models.prompts import names
from kgrag.runtime.limits import limited
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import CancelledError, ModelError

pytestmark = pytest.mark.llm

QUESTION, ANSWER = "In which town did the builder of the Fram live?", "Larvik"
COAST = own("llm-coast")


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    return fill(COAST, [Document(p.title, (Section(p.text),), p.title) for p in PASSAGES])


@pytest.fixture(scope="module")
def facts(kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A separate collection of facts."""
    with world(kg, own("llm-world"), tmp_path_factory.mktemp("world")) as name:
        yield name


@pytest.fixture
def asking(graph_settings: Settings, llama: LlamaServer) -> Iterator[KnowledgeGraph]:
    """A client with the real model and short replies, so that loops end in time."""
    chat = llama.settings(max_tokens=64)
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": chat})) as client:
        yield client


class TestTasks:
    @pytest.mark.parametrize("prompt", names())
    def test_a_reply_is_read_or_refused_in_words(self, chat: OpenAIChat, prompt: str) -> None:
        llm, filled = PromptedModel(chat), values(prompt, QUESTION, ANSWER, PASSAGES[:3])
        try:
            if prompt in SHAPES:
                found = llm.structured(task(prompt), SHAPES[prompt], prompt=prompt, **filled)
                assert isinstance(found, SHAPES[prompt])
            else:
                assert llm.text(task(prompt), prompt=prompt, **filled).strip()
        except ModelError as error:
            assert said_in_words(error)

    def test_json_is_asked_for_as_the_server_takes_it(self, chat: OpenAIChat) -> None:
        """The server refuses a schema with its own error, status 500, but accepts one beside json_object."""
        messages = PromptedModel(chat).prompt("reason").messages(**values("reason", QUESTION, ANSWER, PASSAGES))
        schema = reply_schema(SHAPES["reason"])
        reply = chat.chat(messages, task="reason", json=schema)
        assert shaped(reply, SHAPES["reason"])[0] is not None
        assert chat.json_form("reason") == "json_object and a schema"


class TestReplies:
    def test_a_reply_that_repeats_itself_is_ended(self, llama: LlamaServer) -> None:
        """A grammar allows the server nothing but an endless sentence, which kgrag ends."""
        endless = {"grammar": 'root ::= "the ship sails on, "{400}'}
        with OpenAIChat(llama.settings(max_tokens=2000, extra_body=endless)) as model:
            reply = model.chat([Message("user", "Tell me of the ship.")], task="answer")
        assert reply.cut
        assert reply.text == "the ship sails on,"
        assert 0 < reply.usage.completion_tokens < 600

    def test_it_is_heard_while_it_is_written(self, chat: OpenAIChat) -> None:
        heard: list[str] = []
        reply = chat.chat([Message("user", "Tell me of the sea.")], task="answer", on_text=heard.append)
        assert len(heard) > 5
        assert heard[-1] == reply.text
        assert all(later.startswith(earlier) for earlier, later in pairwise(heard))

    def test_a_cancelled_call_frees_the_server(self, llama: LlamaServer) -> None:
        """The server has one slot: another call is answered as soon as this one is cancelled."""
        flag = threading.Event()
        with OpenAIChat(llama.settings(max_tokens=3000)) as model:
            short = [Message("user", "Say yes.")]
            began = time.monotonic()
            model.chat(short, task="name")
            usual = time.monotonic() - began

            def heard(text: str) -> None:
                if len(text) > 20:
                    flag.set()

            with limited(cancelled=flag), pytest.raises(CancelledError):
                model.chat([Message("user", "Write a long story about a ship.")], task="answer", on_text=heard)
            began = time.monotonic()
            model.chat(short, task="name")
            assert time.monotonic() - began < usual + 1.5

    def test_many_at_once_are_all_answered(self, llama: LlamaServer) -> None:
        """The server ends a stream when another request comes; kgrag then sends one request at a time."""
        with OpenAIChat(llama.settings(max_tokens=20)) as model:
            said: list[str] = []

            def ask(n: int) -> None:
                said.append(model.chat([Message("user", f"Say the number {n}.")], task="answer").text)

            threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(said) == 4
            assert all(said)
            assert model._slots.limit == 1

    def test_what_is_read_fits_the_context(self, chat: OpenAIChat, caplog: pytest.LogCaptureFixture) -> None:
        long = [[PASSAGES[n % 5]] * 5 for n in range(40)]
        filled = values("answer-short", QUESTION, ANSWER, PASSAGES) | {"passages": numbered(long)}
        assert PromptedModel(chat).text("answer", prompt="answer-short", **filled)
        assert "fit into the context" in caplog.text

    def test_what_cannot_be_made_to_fit_is_refused(self, chat: OpenAIChat) -> None:
        with pytest.raises(ModelError, match="context"):
            chat.chat([Message("user", "ship " * 5000)], task="answer")

    def test_another_model_a_task(self, llama: LlamaServer) -> None:
        with OpenAIChat(llama.settings(models={"read": "two"}, max_tokens=5)) as model:
            assert model.chat([Message("user", "Say yes.")], task="read").model == "two"
            assert model.chat([Message("user", "Say yes.")], task="answer").model == "one"


class TestStrategies:
    @pytest.mark.parametrize("name", sorted(STRATEGIES))
    def test_it_ends(self, asking: KnowledgeGraph, coast: str, facts: str, name: str) -> None:
        questions = (QUESTION, "Where was the man born who bought the Gjøa?", "Which river flows through Larvik?")
        for question in questions if name in ("single", "auto") else questions[:1]:
            knowledge = (facts,) if name == "gears" else ()
            answer = asking[coast].ask(question, system=name, short=True, knowledge=knowledge)
            assert answer.text or answer.problem
            assert answer.system.startswith(name)


class TestExtraction:
    def test_no_passage_is_lost(self, asking: KnowledgeGraph, coast: str) -> None:
        report = asking[coast].extract(threads=2)
        assert report.passages + len(report.failures) == len(PASSAGES)
        assert report.left == len(report.failures)

    def test_a_server_that_is_killed_and_started_again(
        self, graph_settings: Settings, kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        name = own("llm-killed")
        kg[name].ingest([Document(p.title, (Section(p.text),), p.title) for p in PASSAGES])
        try:
            with LlamaServer(tmp_path_factory.mktemp("killed") / "server.log") as server:
                chat = server.settings(max_tokens=64)
                with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": chat})) as client:
                    timer = threading.Timer(1.5, lambda: (server.kill(), server.start()))
                    timer.start()
                    first = client[name].extract(threads=2)
                    timer.join()
                    again = client[name].extract(threads=2)
            assert first.passages + again.passages + len(again.failures) == len(PASSAGES)
        finally:
            kg[name].delete()


def test_doctor_tells_what_the_server_can_do(llama: LlamaServer, graph_settings: Settings) -> None:
    found = {check.name: check for check in model_checks(graph_settings.model_copy(update={"chat": llama.settings()}))}
    assert found["Language model"].ok
    assert "4,096 tokens" in found["Context"].detail
    assert not found["Context"].ok
    assert "llama.cpp: -c" in found["Context"].remedy
    assert "tokens a second" in found["Speed"].detail
    assert "json_object and a schema" in found["JSON"].detail or not found["JSON"].ok
    assert all(isinstance(check.remedy, str) for check in found.values())
