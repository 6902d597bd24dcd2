"""OpenAI's Batch API: many requests in one file, answered within a day at a lower price."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from kgrag.models.chat import CachedReply, no_model
from kgrag.models.chat_errors import LostReply, Server, reason_of, server_error
from kgrag.models.chat_reply import in_time, read_reply
from kgrag.models.endpoint import Endpoint
from kgrag.settings import ChatSettings
from kgrag.values.errors import ModelError

MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000
"""Maximum bytes of a batch; the protocol allows twice as many."""
_ENDPOINT: Final = "/v1/chat/completions"
_ENDED = ("completed", "failed", "expired", "cancelled")
_UNDONE = ("batch_expired", "batch_cancelled")


@dataclass(frozen=True, slots=True)
class BatchState:
    """The progress of a batch: its answered requests, and all of them; `refused`: the reason of a refusal."""

    done: int
    total: int
    ended: bool
    refused: str = ""


class BatchServer:
    """The server of the settings. A context manager; methods raise ModelError."""

    def __init__(self, settings: ChatSettings) -> None:
        """Open the server.

        Raises ConfigurationError when no model is set or the address cannot be used, UnavailableError.
        """
        if not settings.model:
            raise no_model()
        self._endpoint = Endpoint.of(
            "CHAT", settings.model, settings.base_url, settings.api_key, settings.extra_headers
        )
        self._server = Server(settings.model, self._endpoint.address, settings.timeout, settings.retries)
        # the client retries: none of these calls waits for a model
        client = self._endpoint.connect(settings.timeout, self._server)
        self._client = client.with_options(max_retries=settings.retries, default_headers=self._endpoint.extra_headers())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def address(self) -> str:
        """Its address, without secrets."""
        return self._endpoint.address

    def upload(self, requests: Mapping[str, Mapping[str, Any]]) -> str:
        """Upload requests, by ids of the caller; return the id of their file."""
        lines = b"".join(line(id, request) for id, request in requests.items())
        with self._translated():
            return self._client.files.create(file=("requests.jsonl", lines), purpose="batch").id

    def find(self, file: str) -> str:
        """Return the id of the batch of a file, or "" without one."""
        with self._translated():
            return next((b.id for b in self._client.batches.list(limit=100) if b.input_file_id == file), "")

    def begin(self, file: str) -> str:
        """Start a batch of the requests of a file; return its id."""
        with self._translated():
            batch = self._client.with_options(max_retries=0).batches.create(
                input_file_id=file, endpoint=_ENDPOINT, completion_window="24h"
            )
            return batch.id

    def state(self, id: str) -> BatchState:
        """Return the progress of a batch."""
        import openai

        with self._translated():
            try:
                batch = self._client.batches.retrieve(id)
            except openai.NotFoundError:
                return BatchState(0, 0, True, f"it does not know {id} any more.")
        counts, refused = batch.request_counts, ""
        if batch.status == "failed":
            errors = (batch.errors and batch.errors.data) or []
            refused = " ".join(error.message or "" for error in errors[:3]) or "it does not say why."
        done, total = (counts.completed + counts.failed, counts.total) if counts is not None else (0, 0)
        return BatchState(done, total, batch.status in _ENDED, refused)

    def cancel(self, id: str) -> None:
        """Cancel a batch, which ends soon after."""
        with self._translated():
            self._client.batches.cancel(id)

    def replies(self, id: str) -> Iterator[tuple[str, CachedReply | ModelError]]:
        """Yield the replies of an ended batch by the ids of its requests, in any order; unstarted ones have none."""
        with self._translated():
            batch = self._client.batches.retrieve(id)
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                with self._client.files.with_streaming_response.content(file) as response:
                    for text in in_time(response.iter_lines(), math.inf):
                        if text.strip() and (reply := self._reply(text)) is not None:
                            yield reply

    def forget(self, id: str) -> None:
        """Delete the files of a batch from the server, if the server allows it."""
        import openai

        with suppress(openai.OpenAIError):
            batch = self._client.batches.retrieve(id)
            for file in filter(None, (batch.input_file_id, batch.output_file_id, batch.error_file_id)):
                with suppress(openai.OpenAIError):
                    self._client.files.delete(file)

    def _reply(self, text: str) -> tuple[str, CachedReply | ModelError] | None:
        """Parse the reply in a line of an output or error file."""
        try:
            value = json.loads(text)
            id, response, error = str(value["custom_id"]), value.get("response") or {}, value.get("error")
            if error and error.get("code") in _UNDONE:
                return None
            body = json.dumps(response.get("body") or error or {})
        except (ValueError, KeyError, AttributeError) as error:
            raise ModelError(f"A line of a batch's file cannot be read: {text[:80]!r}.") from error
        if value.get("error") or response.get("status_code") != 200:
            reason = f"The server refused the call: {reason_of(body)}"
            return id, ModelError(reason, "Run it again; without --batch it is asked for at once.")
        try:
            reply, _ = read_reply("application/json", [body.encode()], math.inf, None)
        except LostReply as error:
            return id, self._endpoint.hidden(server_error(error, self._server))
        return id, reply

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import openai

        try:
            yield
        except (openai.OpenAIError, LostReply) as error:
            raise self._endpoint.hidden(server_error(error, self._server)) from None


def line(id: str, request: Mapping[str, Any]) -> bytes:
    """Format a request as a line of the file of a batch."""
    value = {"custom_id": id, "method": "POST", "url": _ENDPOINT, "body": request}
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def parts(requests: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[dict[str, Mapping[str, Any]]]:
    """Yield requests in groups that each fit into one batch."""
    part: dict[str, Mapping[str, Any]] = {}
    size = 0
    for id, request in requests:
        more = len(line(id, request))
        if part and (len(part) == MOST_REQUESTS or size + more > MOST_BYTES):
            yield part
            part, size = {}, 0
        part[id] = request
        size += more
    if part:
        yield part
