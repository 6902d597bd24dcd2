"""Prompted tasks parse texts and objects from realistic replies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from scripted import Scripted

from kgrag.indexing.communities import Report
from kgrag.indexing.group_texts import Summary
from kgrag.models.chat import Reply
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import PromptedModel, json_in, plain, shaped, spoken
from kgrag.models.prompts import load_prompt
from kgrag.values.errors import ModelError
from kgrag.values.events import Called, Event
from kgrag.values.results import Usage


@pytest.mark.parametrize("shape", [Summary, Report])
def test_a_cut_text_is_not_written_to_the_graph(shape: type[BaseModel]) -> None:
    reply = Reply('{"title": "Piers", "summary": "The pier of Oslo', "m", Usage(), cut=True)
    assert shaped(reply, shape) == (None, "it was cut off because it grew too long")


VALUES = {"passages": "[1] Fram", "question": "Who designed the Fram?"}


class Verdict(BaseModel):
    answerable: bool
    answer: str = ""


YES = Verdict(answerable=True, answer="Colin Archer")
SAID = '{"answerable": true, "answer": "Colin Archer"}'


@pytest.fixture
def llm(scripted: Scripted) -> Iterator[PromptedModel]:
    with OpenAIChat(scripted.settings()) as model:
        yield PromptedModel(model)


def first(text: str) -> Any:
    return next(json_in(text))


class TestReplies:
    @pytest.mark.parametrize(
        "reply",
        [
            SAID, f"```json\n{SAID}\n```", f"```\n{SAID}\n```",
            f"As [1] says {{see above}}:\n```JSON\n{SAID}\n```\nThat is all.",
            f"As [1] says {{see above}}, and [2]: {SAID}", f"Here it is: {SAID} I hope that [1] helps.",
            f"<think>The answer {{may}} be [1].</think>\n\n{SAID}",
            f'<Thinking>Not {{"answerable": false}}.</Thinking>{SAID}',
            f'Perhaps {{"answerable": false}}? No.\n</think>\n{SAID}',
            f'<|channel|>analysis<|message|>{{"answerable": false}}<|channel|>final<|message|>{SAID}',
            '{"answerable": true, "answer": "Colin Archer",}',
            '{"answerable": true, // as [1] says\n "answer": "Colin Archer" /* the designer */}',
            "{'answerable': True, 'answer': 'Colin Archer'}", "{answerable: true, answer: 'Colin Archer'}",
            '{"Answerable": true, "ANSWER": "Colin Archer"}',
            '```json\n{"answerable": true, "answer": "Colin Archer",}\n```\nSee [1].',
        ],
    )  # fmt: skip
    def test_json_in_whatever_stands_around_it(self, reply: str) -> None:
        assert Verdict.model_validate(first(reply)) == YES

    def test_json_that_holds_fences_and_raw_line_ends(self) -> None:
        assert first('{"code": "```json\n{}\n```"}') == {"code": "```json\n{}\n```"}
        assert first('```json\n{"code": "```sh\nls\n```"}\n```') == {"code": "```sh\nls\n```"}
        assert first('[["a", "b", "c"]]') == [["a", "b", "c"]]
        assert first('{"url": "https://example.org // no comment",}') == {"url": "https://example.org // no comment"}

    def test_what_is_whole_of_a_reply_that_was_cut(self) -> None:
        whole = {"triples": [["Fram", "built in", "1892"]]}
        assert first('{"triples": [["Fram", "built in", "1892"], ["Fram", "designed by", "Colin Ar') == whole
        assert first('{"triples": [["Fram", "built in", "1892"], ["Fra') == whole
        assert first('```json\n{"triples": [{"s": "Fram"}, {"s": "Col') == {"triples": [{"s": "Fram"}]}

    def test_objects_inside_of_others(self) -> None:
        assert list(json_in('{"result": {"answerable": true}}'))[1] == {"answerable": True}
        assert list(json_in('[{"answerable": true}]'))[1] == {"answerable": True}

    @pytest.mark.parametrize(
        "reply", ["", "  ", "No.", '{"answerable": tr', "<think>{}</think>", "<think>on and {}", "As [1] says."]
    )
    def test_no_json(self, reply: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            first(reply)

    def test_thinking_is_left_out(self) -> None:
        assert plain("<think>\nHm. </think>\n Colin Archer. ") == "Colin Archer."
        assert plain("It may be him.</think>\n\nColin Archer.") == "Colin Archer."
        assert plain("It may be him.\n</think>Colin Archer: see </think> [1].") == "Colin Archer: see </think> [1]."
        assert (
            plain("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>He.") == "He."
        )

    @pytest.mark.parametrize(
        "said",
        [
            "The tags are <think> and </think>, around the first reason [1].",
            "Lisbon [1]. The reason ends with the tag </think>",
            "It ends with </think>\n\nThe answer comes after it [1].",
            "Write:\n```\n<think>\nreason\n</think>\n```",
            "The last channel begins with <|channel|>final<|message|> [1].",
        ],
    )
    def test_tags_that_an_answer_speaks_of_stay(self, said: str) -> None:
        assert plain(said) == said
        assert plain("<think>cut off in the middle of") == ""
        assert plain("What <think> means.") == "What <think> means."
        assert plain("It may be him.\n</thinking>\nColin Archer.") == "Colin Archer."

    @pytest.mark.parametrize(
        "reply",
        [
            "When was it built?", "Sure! Here is the next question:\n\nWhen was it built?",
            'Sure! Here is the next question: "When was it built?"', "**Next question:** When was it built?",
            "Okay, so the next question is: When was it built?", "Certainly! When was it built?",
            "<think>Hm.</think>Here's what to ask:\nWhen was it built?",
        ],
    )  # fmt: skip
    def test_a_preamble_is_left_out(self, reply: str) -> None:
        assert spoken(reply) == "When was it built?"

    @pytest.mark.parametrize("reply", ["Great Yarmouth, Norfolk", "Okay.", "Sure Thing, Ltd.", '"A" and "B"'])
    def test_what_is_no_preamble_stays(self, reply: str) -> None:
        assert spoken(reply) == reply


class TestText:
    def test_prompt_with_its_values_is_sent(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", " Colin Archer. ")
        assert llm.text("read", **VALUES) == "Colin Archer."
        (call,) = scripted.calls
        expected = load_prompt("read").messages(**VALUES)
        assert call["messages"] == [{"role": m.role, "content": m.content} for m in expected]
        assert "response_format" not in call

    def test_another_prompt_of_the_same_task(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", "Colin Archer.")
        llm.text("read", prompt="read-on", facts="none", **VALUES)
        expected = load_prompt("read-on").messages(facts="none", **VALUES)
        assert scripted.calls[0]["messages"][0]["content"] == expected[0].content

    def test_an_empty_reply_is_asked_for_once_more(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", "Colin Archer.")
        scripted.fail("empty")
        assert llm.text("read", **VALUES) == "Colin Archer."
        scripted.fail("empty", "empty")
        with pytest.raises(ModelError, match="replied nothing to 'read'"):
            llm.text("read", **VALUES)
        assert len(scripted.calls) == 4

    def test_heard_without_what_is_thought(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", "<think>It may be him.</think> Colin Archer did.")
        heard: list[str] = []
        assert llm.text("read", on_text=heard.append, **VALUES) == "Colin Archer did."
        assert heard == ["Colin", "Colin Archer", "Colin Archer did."]


class TestStructured:
    def ask(self, llm: PromptedModel) -> Verdict:
        return llm.structured("read", Verdict, **VALUES)

    def test_json_is_asked_for(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", SAID)
        assert self.ask(llm) == YES
        (call,) = scripted.calls
        sent = call["response_format"]
        assert sent["type"] == "json_schema"
        assert sent["json_schema"]["schema"] == {
            "type": "object",
            "properties": {"answerable": {"type": "boolean"}, "answer": {"type": "string"}},
            "required": ["answerable", "answer"],
            "additionalProperties": False,
        }

    @pytest.mark.parametrize(
        ("first", "complaint"),
        [
            ("I do not know.", "there is no JSON in it"),
            ('{"answer": "Colin Archer"}', "answerable: Field required"),
            ('{"answerable": "perhaps"}', "answerable: Input should be a valid boolean"),
            ('{"answerable": true, "answer": "Col', "there is no JSON in it"),
            ('["yes"]', "Input should be a valid dictionary"),
        ],
    )
    def test_what_cannot_be_used_is_repaired_once(
        self, scripted: Scripted, llm: PromptedModel, first: str, complaint: str
    ) -> None:
        scripted.say("read", first, SAID)
        assert self.ask(llm) == YES
        _, second = scripted.calls
        *before, said, repair = second["messages"]
        assert before == scripted.calls[0]["messages"]
        assert said == {"role": "assistant", "content": first}
        assert repair["role"] == "user"
        assert f"This cannot be used: {complaint}" in repair["content"]

    def test_an_empty_reply(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", SAID)
        scripted.fail("empty")
        assert self.ask(llm) == YES
        assert [m["role"] for m in scripted.calls[1]["messages"]] == ["system", "user", "user"]

    def test_a_reply_that_was_cut(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", SAID)
        scripted.fail("truncated")
        assert self.ask(llm) == YES
        assert "cut off because it grew too long" in scripted.calls[1]["messages"][-1]["content"]

    def test_twice_cut_off(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.say("read", SAID)
        scripted.fail("truncated", "truncated")
        with pytest.raises(ModelError, match=r"grew too long[\s\S]*KGRAG_CHAT__MAX_TOKENS"):
            self.ask(llm)

    def test_twice_unusable(self, scripted: Scripted, llm: PromptedModel) -> None:
        scripted.fail("bad-json", "bad-json")
        with pytest.raises(ModelError, match=r"no usable JSON for 'read', twice[\s\S]*KGRAG_CHAT__MODELS"):
            self.ask(llm)
        assert len(scripted.calls) == 2

    def test_what_failed_in_an_earlier_run_is_tried_again(self, scripted: Scripted, tmp_path: Path) -> None:
        scripted.say("read", "no", "no", SAID)
        with OpenAIChat(scripted.settings(), tmp_path) as model:
            with pytest.raises(ModelError):
                self.ask(PromptedModel(model))
            assert self.ask(PromptedModel(model)) == YES
            assert self.ask(PromptedModel(model)) == YES
        assert len(scripted.calls) == 3


def test_a_listener_hears_of_every_call(scripted: Scripted, llm: PromptedModel) -> None:
    scripted.say("read", "no", SAID)
    heard: list[Any] = []

    def listen(event: Event) -> None:
        heard.append(event)

    listening = llm.with_listener(listen)
    listening.structured("read", Verdict, **VALUES)
    assert [type(event) for event in heard] == [Called, Called]
    assert [(event.task, event.model, event.usage.calls) for event in heard] == [("read", "read", 1)] * 2
    assert all(event.seconds > 0 for event in heard)
    assert llm.listener is None
    assert listening.with_listener(None) is listening


@pytest.mark.parametrize("between", ["\n", " ", "\nand for the second sentence:\n"])
def test_of_damaged_objects_none_is_lost(between: str) -> None:
    one, other = '{"triples": [["Fram", "built by", "Archer"],]}', '{"triples": [["Maud", "built by", "Jensen"],]}'
    found = [value for value in json_in(one + between + other) if isinstance(value, dict)]
    assert [value["triples"][0][0] for value in found] == ["Fram", "Maud"]


@pytest.mark.parametrize("text", ['{"a": [["x"]]], "b": 1}', '{"a": [["x"]], "b": 1', '{"a": [["x"],]} "b": 1}'])
def test_a_bracket_too_many_or_too_few_ends_no_object(text: str) -> None:
    assert next(json_in(text))["a"] == [["x"]]
