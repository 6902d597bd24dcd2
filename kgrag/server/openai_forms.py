"""Replies to clients of OpenAI's API, in its forms."""

from typing import Any, Literal

from pydantic import create_model

_Literal: Any = Literal


def _one_of(*values: str) -> Any:
    """Return a field with one of these values; the first is the default."""
    return _Literal[values], values[0]


Model: Any = create_model("Model", id=str, object=_one_of("model"), created=(int, 0), owned_by=_one_of("kgrag"))
"""A collection as a model."""
Models: Any = create_model("Models", object=_one_of("list"), data=list[Model])
UrlCitation: Any = create_model("UrlCitation", start_index=int, end_index=int, title=str, url=str)
"""A citation of the text between two characters."""
Annotation: Any = create_model("Annotation", type=_one_of("url_citation"), url_citation=UrlCitation)
AnswerMessage: Any = create_model(
    "AnswerMessage", role=_one_of("assistant"), content=str, refusal=(None, None), annotations=list[Annotation]
)
Choice: Any = create_model(
    "Choice", index=(int, 0), message=AnswerMessage, logprobs=(None, None), finish_reason=_one_of("stop", "length")
)
"""The only choice of a completion."""
Tokens: Any = create_model("Tokens", prompt_tokens=int, completion_tokens=int, total_tokens=int)
"""The usage of an answer."""
Completion: Any = create_model(
    "Completion", id=str, created=int, model=str, object=_one_of("chat.completion"), choices=list[Choice], usage=Tokens
)
"""An answer."""
Wrong: Any = create_model("Wrong", message=str, type=str, param=(None, None), code=str | None)
"""An error and its remedy; `code` is its kind."""
Refusal: Any = create_model("Refusal", error=Wrong)

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Refusal, "description": "The request is refused"},
    "5XX": {"model": Refusal, "description": "It cannot be done now"},
}
"""The error replies of these routes for OpenAPI."""
