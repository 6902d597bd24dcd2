"""What goes wrong with a language model's server, and what to do about it."""

import re
from typing import TYPE_CHECKING

from kgrag.errors import ModelError, UnavailableError

if TYPE_CHECKING:
    import openai

    from kgrag.settings import ChatSettings

_ADDRESS = "The address is KGRAG_CHAT__BASE_URL (or OPENAI_BASE_URL); it mostly ends with /v1."
_LONGEST = 300


class LostReply(Exception):
    """The server answered, but what it sent is no whole reply."""


def server_error(error: "openai.OpenAIError", model: str, address: str, settings: "ChatSettings") -> ModelError:
    """The error of the openai client as a ModelError whose remedy names the setting to change."""
    import openai

    tries = f"after {settings.retries + 1} tries" if settings.retries else "at the first try"
    if isinstance(error, openai.APITimeoutError):
        return ModelError(
            f"The model {model!r} did not answer within {settings.timeout:g} seconds, {tries}.",
            "Raise KGRAG_CHAT__TIMEOUT, or lower KGRAG_CHAT__CONCURRENCY.",
        )
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        if type(cause).__name__ == "ConnectError":  # of httpx or httpx2, whichever the client stands on
            return no_connection(address, cause)
        return lost_reply(cause, model, address, settings.retries)
    if isinstance(error, openai.APIStatusError):
        return _refused(error, model, address, settings, tries)
    return ModelError(f"The model {model!r} at {address} failed: {_first_line(error)}", "Try again.")


def no_connection(address: str, cause: BaseException) -> ModelError:
    """The error for a server that cannot be reached."""
    return UnavailableError(f"No connection to {address}: {_first_line(cause)}", f"Is the server running? {_ADDRESS}")


def lost_reply(error: BaseException, model: str, address: str, retries: int) -> ModelError:
    """The error for a server of which no reply came whole."""
    return ModelError(
        f"No whole reply of {model!r} came from {address}, in {retries + 1} tries: {_first_line(error)}",
        f"Is this an OpenAI-compatible server? {_ADDRESS}",
    )


def _refused(
    error: "openai.APIStatusError", model: str, address: str, settings: "ChatSettings", tries: str
) -> ModelError:
    said, status = _first_line(error), error.status_code
    match status:
        case 401 | 403:
            return UnavailableError(
                f"{address} refuses the key: {said}",
                f"Set OPENAI_API_KEY or KGRAG_CHAT__API_KEY to a key that may use {model!r}.",
            )
        case 404:
            return UnavailableError(
                f"There is no model {model!r} at {address}: {said}", f"Set KGRAG_CHAT__MODEL. {_ADDRESS}"
            )
        case 429 if error.code == "insufficient_quota" or "quota" in said:
            return UnavailableError(
                f"The account's quota at {address} is used up: {said}", "Add to it, or use another key."
            )
        case 429:
            return ModelError(
                f"{address} takes no more requests, {tries}: {said}",
                "Lower KGRAG_CHAT__CONCURRENCY, or set KGRAG_CHAT__REQUESTS_PER_MINUTE to what it allows.",
            )
        case _ if status >= 500:
            return ModelError(f"{address} fails, {tries}: {said}", "Try again later; replies so far are kept.")
        case _:
            return ModelError(f"{address} refuses the request to {model!r}: {said}", _remedy(said, settings))


def _remedy(said: str, settings: "ChatSettings") -> str:
    other = "max_completion_tokens" if settings.limit == "max_tokens" else "max_tokens"
    for sign, remedy in (
        (r"context.{0,20}length|too long|too many tokens", "Show it less, or use a model of a longer context."),
        (r"max_(completion_)?tokens", f"Set KGRAG_CHAT__LIMIT={other}, or lower KGRAG_CHAT__MAX_TOKENS."),
        (r"temperature", "Set KGRAG_CHAT__TEMPERATURE=none, or to one that the model takes."),
        (r"response_format|json", "Set KGRAG_CHAT__JSON_MODE=none."),
    ):
        if re.search(sign, said, re.IGNORECASE):
            return remedy
    return "Try another model: KGRAG_CHAT__MODEL."


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST].rstrip(".") + "."
