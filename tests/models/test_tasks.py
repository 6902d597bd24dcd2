"""What a model is asked to do: texts and objects out of replies as models really give them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from scripted import Scripted

from kgrag.errors import ModelError
from kgrag.events import Called, Event
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompts import load_prompt
from kgrag.models.tasks import Tasks, json_of, plain

VALUES = {"passages": "[1] Fram", "question": "Who designed the Fram?"}


class Verdict(BaseModel):
    answerable: bool
    answer: str = ""


YES = Verdict(answerable=True, answer="Colin Archer")
SAID = '{"answerable": true, "answer": "Colin Archer"}'


@pytest.fixture
def tasks(scripted: Scripted) -> Iterator[Tasks]:
    with OpenAIChat(scripted.settings()) as model:
        yield Tasks(model)


class TestReplies:
    @pytest.mark.parametrize(
        "reply",
        [
            SAID,
            f"```json\n{SAID}\n```",
            f"```\n{SAID}\n```",
            f"As [1] says {{see above}}:\n```JSON\n{SAID}\n```\nThat is all.",
            f"Here it is: {SAID} I hope that helps.",
            f"<think>The answer {{may}} be [1].</think>\n\n{SAID}",
        ],
    )
    def test_json_in_whatever_stands_around_it(self, reply: str) -> None:
        assert Verdict.model_validate(json_of(reply)) == YES

    def test_json_that_holds_fences_and_raw_line_ends(self) -> None:
        assert json_of('{"code": "```json\n{}\n```"}') == {"code": "```json\n{}\n```"}
        assert json_of('```json\n{"code": "```sh\nls\n```"}\n```') == {"code": "```sh\nls\n```"}
        assert json_of('[["a", "b", "c"]]') == [["a", "b", "c"]]

    @pytest.mark.parametrize("reply", ["", "  ", "No.", '{"answerable": tr', "<think>{}</think>", "<think>on and {}"])
    def test_no_json(self, reply: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            json_of(reply)

    def test_thinking_is_left_out(self) -> None:
        assert plain("<think>\nHm. </think>\n Colin Archer. ") == "Colin Archer."
        assert plain("<think>cut off in the middle of") == ""
        assert plain("What <think> means.") == "What <think> means."


class TestText:
    def test_prompt_with_its_values_is_sent(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", " Colin Archer. ")
        assert tasks.text("read", **VALUES) == "Colin Archer."
        (call,) = scripted.calls
        expected = load_prompt("read").messages(**VALUES)
        assert call["messages"] == [{"role": m.role, "content": m.content} for m in expected]
        assert "response_format" not in call

    def test_another_prompt_of_the_same_task(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", "Colin Archer.")
        tasks.text("read", prompt="read-on", facts="none", **VALUES)
        expected = load_prompt("read-on").messages(facts="none", **VALUES)
        assert scripted.calls[0]["messages"][0]["content"] == expected[0].content

    def test_an_empty_reply_is_asked_for_once_more(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", "Colin Archer.")
        scripted.fail("empty")
        assert tasks.text("read", **VALUES) == "Colin Archer."
        scripted.fail("empty", "empty")
        with pytest.raises(ModelError, match="replied nothing to 'read'"):
            tasks.text("read", **VALUES)
        assert len(scripted.calls) == 4

    def test_heard_without_what_is_thought(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", "<think>It may be him.</think> Colin Archer did.")
        heard: list[str] = []
        assert tasks.text("read", on_text=heard.append, **VALUES) == "Colin Archer did."
        assert heard == ["Colin", "Colin Archer", "Colin Archer did."]


class TestStructured:
    def ask(self, tasks: Tasks) -> Verdict:
        return tasks.structured("read", Verdict, **VALUES)

    def test_json_is_asked_for(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", SAID)
        assert self.ask(tasks) == YES
        (call,) = scripted.calls
        assert call["response_format"] == {"type": "json_object"}

    @pytest.mark.parametrize(
        ("first", "complaint"),
        [
            ("I do not know.", "there is no JSON in it"),
            ('{"answer": "Colin Archer"}', "answerable: Field required"),
            ('{"answerable": "perhaps"}', "answerable: Input should be a valid boolean"),
            ('["yes"]', "Input should be a valid dictionary"),
        ],
    )
    def test_what_cannot_be_used_is_repaired_once(
        self, scripted: Scripted, tasks: Tasks, first: str, complaint: str
    ) -> None:
        scripted.say("read", first, SAID)
        assert self.ask(tasks) == YES
        _, second = scripted.calls
        *before, said, repair = second["messages"]
        assert before == scripted.calls[0]["messages"]
        assert said == {"role": "assistant", "content": first}
        assert repair["role"] == "user"
        assert f"This cannot be used: {complaint}" in repair["content"]

    def test_an_empty_reply(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", SAID)
        scripted.fail("empty")
        assert self.ask(tasks) == YES
        assert [m["role"] for m in scripted.calls[1]["messages"]] == ["system", "user", "user"]

    def test_a_reply_that_was_cut(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.say("read", SAID)
        scripted.fail("truncated")
        assert self.ask(tasks) == YES
        assert "cut off because it grew too long" in scripted.calls[1]["messages"][-1]["content"]

    def test_twice_unusable(self, scripted: Scripted, tasks: Tasks) -> None:
        scripted.fail("bad-json", "bad-json")
        with pytest.raises(ModelError, match=r"no usable JSON for 'read', twice[\s\S]*KGRAG_CHAT__MODELS"):
            self.ask(tasks)
        assert len(scripted.calls) == 2

    def test_what_failed_in_an_earlier_run_is_tried_again(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("read", "no", "no", SAID)
        with OpenAIChat(scripted.settings(), tmp_path) as model:
            with pytest.raises(ModelError):
                self.ask(Tasks(model))
            assert self.ask(Tasks(model)) == YES
            assert self.ask(Tasks(model)) == YES
        assert len(scripted.calls) == 3


def test_a_listener_hears_of_every_call(scripted: Scripted, tasks: Tasks) -> None:
    scripted.say("read", "no", SAID)
    heard: list[Any] = []

    def listen(event: Event) -> None:
        heard.append(event)

    listening = tasks.with_listener(listen)
    listening.structured("read", Verdict, **VALUES)
    assert [type(event) for event in heard] == [Called, Called]
    assert [(event.task, event.model, event.usage.calls) for event in heard] == [("read", "read", 1)] * 2
    assert all(event.seconds > 0 for event in heard)
    assert tasks.listener is None
    assert listening.with_listener(None) is listening
