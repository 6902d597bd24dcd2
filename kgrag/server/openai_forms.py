"""Replies to clients of OpenAI's API, in its forms."""

from typing import Any, Literal

from pydantic import BaseModel


class Model(BaseModel):
    """A collection as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "kgrag"


class Models(BaseModel):
    """A list of them."""

    object: Literal["list"] = "list"
    data: list[Model]


class UrlCitation(BaseModel):
    """A citation of the text between two characters."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """A citation."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    """The message that answers."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(BaseModel):
    """The only one of a completion."""

    index: int = 0
    message: AnswerMessage
    logprobs: None = None
    finish_reason: Literal["stop", "length"] = "stop"


class Tokens(BaseModel):
    """The usage of an answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    """An answer."""

    id: str
    created: int
    model: str
    object: Literal["chat.completion"] = "chat.completion"
    choices: list[Choice]
    usage: Tokens


class Wrong(BaseModel):
    """An error and its remedy; `code` is its kind."""

    message: str
    type: str
    param: None = None
    code: str | None


class Refusal(BaseModel):
    """An error."""

    error: Wrong


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Refusal, "description": "The request is refused"},
    "5XX": {"model": Refusal, "description": "It cannot be done now"},
}
"""The replies of these routes besides their own, as OpenAPI describes them."""
