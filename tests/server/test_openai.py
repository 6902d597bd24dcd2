"""OpenAI's API: the official client asks collections as models, and gets answers with sources."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai import OpenAI
from scripted import Scripted
from served import SHIPS, Served

from kgrag import KnowledgeGraph
from kgrag.models.chat import Message
from kgrag.server.conversation import is_chore, rest, steady, with_sources
from kgrag.values.documents import Document, Section
from kgrag.values.events import Answer, Citation
from kgrag.values.results import Passage, Ranking

_SHIPS = "ships: of the coast"
_LETTERS = "letters of Kari"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_SINGLE = f"{_SHIPS}:single+pathrank"


@pytest.fixture(scope="module")
def server(
    asking: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A server with a key for all collections, and one for the letters only."""
    fill(_SHIPS, [Document(title, (Section(text),), title) for title, text in SHIPS.items()])
    fill(_LETTERS, [Document("Kari", (Section("Kari Aune keeps a secret."),), "Kari")])
    with Served(asking, tmp_path_factory.mktemp("keys")) as running:
        running.key("all")
        running.key("some", "read", _LETTERS)
        yield running


def _client(server: Served, key: str) -> OpenAI:
    return OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


@pytest.fixture
def client(server: Served, scripted: Scripted) -> Iterator[OpenAI]:
    with _client(server, server.tokens["all"]) as made:
        yield made


def _user(text: str) -> Any:
    return {"role": "user", "content": text}


def test_collections_are_models(client: OpenAI, server: Served) -> None:
    assert {_SHIPS, _LETTERS} <= {model.id for model in client.models.list()}
    assert client.models.retrieve(_LETTERS).owned_by == "kgrag"
    with _client(server, server.tokens["some"]) as narrow:
        assert [model.id for model in narrow.models.list()] == [_LETTERS]
        for name in (_SHIPS, _SINGLE, "none"):
            with pytest.raises(openai.NotFoundError) as raised:
                narrow.chat.completions.create(model=name, messages=[_user(_QUESTION)])
            assert f"There are: {_LETTERS}." in str(raised.value.body)


def test_an_answer_has_its_sources(client: OpenAI, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2], as (Passage 1) and [7] lead to it.")
    completion = client.chat.completions.create(
        model=_SINGLE, messages=[{"role": "system", "content": "Be brief."}, _user(_QUESTION)], temperature=0.5
    )
    (choice,) = completion.choices
    text = choice.message.content
    assert text is not None
    assert choice.finish_reason == "stop"
    assert text.startswith("In Nordvika [2], as [1] and lead to it.\n\nSources:\n[1] Fjord Queen")
    assert "[2] Ole Brandvik" in text
    assert choice.message.annotations is not None
    cited = [a.url_citation for a in choice.message.annotations]
    assert [(text[c.start_index : c.end_index], c.title) for c in cited] == [
        ("[2]", "Ole Brandvik"),
        ("[1]", "Fjord Queen"),
    ]
    opened = client._client.get(cited[0].url, headers={"Authorization": f"Bearer {client.api_key}"})
    assert opened.json()["passage"]["text"] == "Ole Brandvik was born in Nordvika."
    assert completion.usage is not None and completion.usage.total_tokens > 0
    assert scripted.tasks == ["answer"]


@pytest.mark.parametrize("system", ["", ":single+hybrid"])
def test_several_collections_are_one_model(client: OpenAI, server: Served, scripted: Scripted, system: str) -> None:
    scripted.say("answer", "In Nordvika [1], which [2] and [3] tell.")
    both = f"{_SHIPS}, {_LETTERS}{system}"
    asked = "Where was Ole Brandvik born, and what does Kari Aune keep?"
    completion = client.chat.completions.create(model=both, messages=[_user(asked)])
    annotations = completion.choices[0].message.annotations or []
    opened = [
        client._client.get(a.url_citation.url, headers={"Authorization": f"Bearer {client.api_key}"}).json()["passage"]
        for a in annotations
    ]
    assert {passage["collection"] for passage in opened} == {_SHIPS, _LETTERS}
    assert client.models.retrieve(both).id == both
    with _client(server, server.tokens["some"]) as narrow, pytest.raises(openai.NotFoundError):
        narrow.chat.completions.create(model=both, messages=[_user(asked)])


def test_an_answer_is_streamed_as_it_is_written(client: OpenAI, scripted: Scripted) -> None:
    scripted.say("answer", "He was born in Nordvika [2], as [9] and the steamer [1] tell. " + "It is a town. " * 20)
    stream = client.chat.completions.create(
        model=_SINGLE, messages=[_user(_QUESTION)], stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    texts = [delta.content for delta in deltas if delta.content]
    assert deltas[0].role == "assistant"
    assert len(texts) > 2
    whole = "".join(texts)
    assert "Nordvika [2], as" in whole and "the steamer [1] tell. It is a town." in whole
    assert whole.count("It is a town.") == 20
    assert whole.count("\n\nSources:\n[1] Fjord Queen") == 1
    (annotations,) = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]  # type: ignore[attr-defined]
    assert [a["url_citation"]["title"] for a in annotations] == ["Ole Brandvik", "Fjord Queen"]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None and chunks[-1].usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_citations_are_where_the_text_that_was_sent_has_them(client: OpenAI, scripted: Scripted) -> None:
    scripted.say(
        "answer", "He was born in Nordvika [1-2], as the steamer (Passage 1) tells; see `a[2]`. " + "A town. " * 20
    )
    stream = client.chat.completions.create(model=_SINGLE, messages=[_user(_QUESTION)], stream=True)
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    whole = "".join(delta.content or "" for delta in deltas)
    (annotations,) = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]  # type: ignore[attr-defined]
    cited = [a["url_citation"] for a in annotations]
    shown = [(whole[c["start_index"] : c["end_index"]], c["title"]) for c in cited]
    assert {title for _, title in shown} == {"Ole Brandvik", "Fjord Queen"}
    assert all(text in ("[1-2]", "[1]", "[2]", "(Passage 1)") for text, _ in shown), shown
    assert all(whole[c["start_index"] - 1] != "a" for c in cited)


def test_a_follow_up_is_understood_from_what_was_said(client: OpenAI, scripted: Scripted) -> None:
    scripted.say("follow-up", "Where was Ole Brandvik born?")
    scripted.say("answer", "In Nordvika [1].")
    said: list[Any] = [
        _user("Who was captain of the Fjord Queen?"),
        {"role": "assistant", "content": "Ole Brandvik [1]."},
        {"role": "user", "content": [{"type": "text", "text": "And where was he born?"}]},
    ]
    completion = client.chat.completions.create(model=_SINGLE, messages=said)
    rewriting, answering = scripted.calls
    assert rewriting["task"] == "follow-up"
    asked = rewriting["messages"][-1]["content"]
    assert "Assistant: Ole Brandvik [1]." in asked and "Last message: And where was he born?" in asked
    assert "Where was Ole Brandvik born?" in answering["messages"][-1]["content"]
    assert "[1] Ole Brandvik" in (completion.choices[0].message.content or "")
    assert completion.usage is not None
    assert completion.usage.total_tokens > 0


@pytest.mark.parametrize(
    "asked",
    [
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n<chat_history>\n"
        "USER: Who was captain?\n</chat_history>",
        "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.",
        "### Task:\nSuggest 3-5 relevant follow-up questions that the user might naturally ask next.",
        "Provide a concise, 5-word-or-less title for the conversation, using title case conventions.",
        "Please create a short title for this conversation: Who was captain? Ole Brandvik.",
        "Based on the chat history, give this conversation a name.",
    ],
)
def test_titles_are_given_without_a_search(client: OpenAI, scripted: Scripted, asked: str) -> None:
    scripted.say("title", "Captains")
    completion = client.chat.completions.create(model=_SHIPS, messages=[_user(asked)])
    assert completion.choices[0].message.content == "Captains"
    assert scripted.tasks == ["title"]


@pytest.mark.parametrize(
    "asked",
    [
        _QUESTION,
        "What is the title of the message that Ole wrote?",
        "Give the name of the captain of the Fjord Queen.",
        "Summarise what is said of the steamer.",
        "Which ships had a name that a conversation about Nordvika gives?",
        "Write down the names of all captains.",
    ],
)
def test_questions_are_no_titles(asked: str) -> None:
    assert not is_chore([Message("user", asked)])


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "Be brief."}], [_user("  ")]])
def test_nothing_asked_is_answered_without_a_model(client: OpenAI, scripted: Scripted, messages: Any) -> None:
    completion = client.chat.completions.create(model=_SHIPS, messages=messages)
    assert "Ask a question" in (completion.choices[0].message.content or "")
    assert scripted.calls == []


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"model": "none"}, openai.NotFoundError, "no collection"),
        ({"model": f"{_SHIPS}:gaer+pathrank"}, openai.NotFoundError, "gear"),
        ({"model": f"{_SHIPS}:single+rerank(url='http://x')"}, openai.APIStatusError, ""),
        ({"messages": "all"}, openai.UnprocessableEntityError, "messages"),
        ({"n": 2}, openai.UnprocessableEntityError, "n"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]},
         openai.BadRequestError, "image_url"),
        ({"messages": [{"role": "user", "content": "x" * 10_001}]}, openai.BadRequestError, "characters"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_errors_have_openais_form(
    client: OpenAI, changes: dict[str, Any], error: type[openai.APIStatusError], said: str, stream: bool
) -> None:
    asked = {"model": _SHIPS, "messages": [_user(_QUESTION)], "stream": stream} | changes
    with pytest.raises(error) as raised:
        client.chat.completions.create(**asked)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.code
    assert said in str(raised.value.body)
    assert raised.value.response.json().keys() == {"error"}


def test_what_is_not_offered_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        client.embeddings.create(model=_SHIPS, input="x")
    assert "chat/completions" in str(raised.value.body)


def test_a_key_that_is_not_known_is_refused(server: Served) -> None:
    with _client(server, "kgrag_none") as other, pytest.raises(openai.AuthenticationError) as raised:
        other.models.list()
    assert (raised.value.type, raised.value.response.headers["WWW-Authenticate"]) == ("authentication_error", "Bearer")


def test_a_model_that_fails_is_said(client: OpenAI, scripted: Scripted) -> None:
    scripted.fail("401", task="answer")
    with pytest.raises(openai.InternalServerError) as raised:
        client.chat.completions.create(model=_SINGLE, messages=[_user(_QUESTION)])
    assert raised.value.type == "server_error"
    scripted.fail("401", task="answer")
    with pytest.raises(openai.APIError) as streamed:
        list(client.chat.completions.create(model=_SINGLE, messages=[_user(_QUESTION)], stream=True))
    assert streamed.value.type == "server_error"


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("He was born [1] in [2].", ["He was born [1]", "He was born [1] in [2]."]),
        ("He was born in [2].", ["He was born [", "He was born [9] in", "He was born [9] in [2]."]),
        ("As [1] and [2] say.", ["As (Passage", "As (Passage 1) and【2】", "As (Passage 1) and【2】 say."]),
        ("Short.", ["Short.", "Short. [9]"]),
        ("Said [1].\n\n(No source was named.)", ["Said [1]."]),
        ("None", []),
    ],
)
def test_what_was_sent_is_gone_on_with(whole: str, parts: list[str]) -> None:
    sent = ""
    for part in map(steady, parts):
        sent = part if part.startswith(sent) else sent
    plain = [text.replace("[9]", "").replace("(Passage 1)", "[1]").replace("【2】", " [2]") for text in (sent, whole)]
    assert " ".join((plain[0] + rest(whole, sent)).split()) == " ".join(plain[1].split())


def test_titles_of_sources_are_no_markup() -> None:
    passage = Passage("1", "key", "![x](http://evil)\n# <b>", "text", source="key")
    answer = Answer("?", "So [1].", True, "single", Ranking("?", "single"), (Citation(1, passage),))
    said = with_sources(replace(answer, text="So [1] and [2]."))
    assert [(m.start, m.end) for m in said.marks] == [(3, 6)]
    assert said.text.endswith("\n[1] \\!\\[x\\](http://evil) \\# \\<b\\> (key)  ")


@pytest.mark.parametrize("stream", [False, True])
def test_pictures_in_an_answer_are_not_fetched(client: OpenAI, scripted: Scripted, stream: bool) -> None:
    scripted.say(
        "answer", "In ![x](http://evil.example/?q=Nordvika) <IMG src='http://evil.example/y'> Nordvika [2]. 1<2!"
    )
    asked: dict[str, Any] = {"model": _SINGLE, "messages": [_user(_QUESTION)]}
    if stream:
        chunks = list(client.chat.completions.create(stream=True, **asked))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        marks = (chunks[-1].choices[0].delta.model_extra or {})["annotations"]
        starts = [mark["url_citation"]["start_index"] for mark in marks]
    else:
        message = client.chat.completions.create(**asked).choices[0].message
        text = message.content or ""
        starts = [mark.url_citation.start_index for mark in message.annotations or ()]
    said = "In ! [x](http://evil.example/?q=Nordvika) < IMG src='http://evil.example/y'> Nordvika [2]. 1<2!"
    assert text.startswith(said)
    assert [text[start:].partition("]")[0] for start in starts] == ["[2"]
