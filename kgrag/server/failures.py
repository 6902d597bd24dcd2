"""Map errors to replies: {error, remedy, kind} and a status, once for all interfaces."""

import errno
import logging
import re
from collections.abc import Callable
from copy import copy
from math import ceil
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from kgrag import wire
from kgrag.server.keys import Access
from kgrag.values import errors
from kgrag.values.errors import KgragError, without_login

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_ADDRESS = re.compile(r"(\bat )?\bhttps?://[^\s,;]+")
_BRACKETS = re.compile(r" ?\((?:kgrag|pip) [^()]*\)")
_OPERATORS = re.compile(
    r"[^.!?\n]*(?:\bKGRAG_\w+|\bOPENAI_\w+|`(?:kgrag|pip) [^`]*`|\b[a-z_]+=[A-Z]{2,}"
    r"|\bkgrag (?:db|enrich|lab|cypher|ingest|keys|delete)\b)[^.!?\n]*[.!?]?"
)
"""A sentence with a remedy that only the operator can apply."""
_FOLDERS = re.compile(r"(?<![\w/.])(?:/|[A-Z]:\\)(?:[^\s'\"/\\]+[/\\])+(?=[^\s'\"/\\])")
_SECRET = re.compile(r"\b(?:sk-|kgrag_)[\w*-]{6,}")
logger = logging.getLogger("kgrag.server")

_STATUS: tuple[tuple[type[KgragError], int], ...] = (  # the first match wins
    (errors.DeadlineError, 504), (errors.StatementError, 400), (errors.DatabaseError, 503),
    (errors.CancelledError, 499), (errors.AccessError, 403), (errors.BusyError, 503), (errors.NotFoundError, 404),
    (errors.MismatchError, 409), (errors.BudgetError, 402), (errors.UnavailableError, 503), (errors.ModelError, 502),
    (errors.RefusedError, 422), (errors.ConfigurationError, 400), (errors.TooLargeError, 413), (errors.InputError, 400),
    (errors.FullError, 507),
)  # fmt: skip


class ErrorReply(BaseModel):
    """An error in a reply: its message, its remedy and its kind."""

    error: str
    remedy: str
    kind: str


ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorReply, "description": "The request is refused"},
    "5XX": {"model": ErrorReply, "description": "It cannot be done now"},
}
"""The error replies of every route for OpenAPI."""


class Reply(JSONResponse):
    """A JSON reply in the forms of kgrag.wire, for texts with any characters."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return wire.dumps(content).encode()


_UNREACHABLE = errors.DatabaseError(
    "The database does not answer now.", "Try again in a moment; the server's log says why."
)
_UNEXPECTED = KgragError("Something went wrong here.", "The log of the server says what, under the id of this request.")


def status_of(error: KgragError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def form_of(error: KgragError) -> dict[str, str]:
    """Return the form of an error in a reply, without logins in addresses."""
    return {"error": without_login(error.message), "remedy": without_login(error.remedy), "kind": type(error).__name__}


def for_reader(text: str) -> str:
    """Return the message of a failure without addresses, folders, settings, commands and keys of the server."""
    plain = _SECRET.sub("…", _FOLDERS.sub("", _OPERATORS.sub("", _BRACKETS.sub("", text))))
    plain = _ADDRESS.sub(lambda match: "" if match[1] else "the service", plain)
    plain = " ".join(plain.split()).replace(" ,", ",").replace(" .", ".")
    return plain[:1].upper() + plain[1:] or (text and "Ask the operator of this server.")


def words_for(access: Access) -> Callable[[str], str]:
    """Return the function that words failures for a caller; admins see them unchanged."""
    return str if access.may("admin") else for_reader


def error_for_caller(error: Exception) -> KgragError:
    """Return the error for the caller: kgrag's own errors unchanged; other errors are logged and hidden.

    Only the operator learns where the database is and why it does not answer.
    """
    if isinstance(error, errors.UnreachableError):
        logger.warning("%s", without_login(error.in_full))
        return _UNREACHABLE
    if isinstance(error, KgragError):
        return error
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return errors.FullError("The disk of the server is full.", "The operator of the server can free space there.")
    logger.error("unexpected %s", type(error).__name__, exc_info=error)
    return _UNEXPECTED


def response(error: KgragError, status: int | None = None) -> Reply:
    """Return the response for an error."""
    headers: dict[str, str] = {}
    status = status_of(error) if status is None else status
    if isinstance(error, errors.BusyError):
        headers["Retry-After"] = str(max(1, ceil(error.seconds)))
    elif status == 503:
        headers["Retry-After"] = "5"
    elif status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Reply(form_of(error), status, headers)


def add_handlers(app: FastAPI) -> None:
    """Make the application reply to all errors in this form."""

    async def ours(request: Request, error: Any) -> Reply:
        problem, access = copy(error_for_caller(error)), request.scope.get("state", {}).get("access")
        if isinstance(access, Access):
            problem.message, problem.remedy = map(words_for(access), (problem.message, problem.remedy))
        return response(problem)

    async def invalid(request: Request, error: Any) -> Reply:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return response(
            errors.InputError(f"The request is invalid: {place}: {first['msg']}.", "See /openapi.json."), 422
        )

    async def http(request: Request, error: Any) -> Reply:
        if str(error.detail).startswith("Too many files"):  # Starlette counts the bytes as it reads
            return response(errors.TooLargeError(str(error.detail), "Send them in parts: each makes a job of its own."))
        form = KgragError(f"{error.detail}.", "See /openapi.json.")
        answer = response(form, error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(KgragError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
