"""The scripted server's version of OpenAI's files and batches: /v1/files and /v1/batches.

A batch advances one step each time it is requested, and stays in progress for `hold` requests. Batches end as `ends`
lists: completed, expired or cancelled half answered, or failed. Replies come in another order than requests, refused
requests in a separate file.
"""

import email
import itertools
import json
from collections import deque
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]
_STEPS = ("validating", "in_progress", "finalizing")
_DONE = ("completed", "expired", "cancelled", "failed")


class Batches:
    """Files and batches."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.hold = 0
        self.ends: deque[str] = deque()
        self._numbers = itertools.count(1)

    def upload(self, kind: str, body: bytes) -> dict[str, Any]:
        """Store the file of a form."""
        form = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        fields = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
        assert fields["purpose"].get_payload(decode=True) == b"batch"
        return self._file(fields["file"].get_payload(decode=True))

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Create a batch from a stored file."""
        assert asked["endpoint"] == "/v1/chat/completions" and asked["completion_window"] == "24h"
        lines = self.files[asked["input_file_id"]].splitlines()
        id = f"batch-{next(self._numbers)}"
        self.batches[id] = {
            **asked, "id": id, "object": "batch", "created_at": 0, "status": "validating", "errors": None,
            "output_file_id": None, "error_file_id": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }  # fmt: skip
        return self.batches[id]

    def step(self, id: str, answer: Answer) -> dict[str, Any]:
        """Return a batch after one more step."""
        batch = self.batches[id]
        if batch["status"] == "in_progress" and self.hold > 0:
            self.hold -= 1
        elif batch["status"] == "finalizing":
            self._end(batch, self.ends.popleft() if self.ends else "completed", answer)
        elif batch["status"] == "cancelling":
            self._end(batch, "cancelled", answer)
        elif batch["status"] in _STEPS:
            batch["status"] = _STEPS[_STEPS.index(batch["status"]) + 1]
        return batch

    def cancel(self, id: str) -> dict[str, Any]:
        """Make a batch end at its next step."""
        if self.batches[id]["status"] not in _DONE:
            self.batches[id]["status"] = "cancelling"
        return self.batches[id]

    def _end(self, batch: dict[str, Any], how: str, answer: Answer) -> None:
        batch["status"] = how
        if how == "failed":
            problem = {"code": "invalid_json_line", "message": "This line is not parseable as valid JSON.", "line": 1}
            batch["errors"] = {"object": "list", "data": [problem]}
            return
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        assert all(r["method"] == "POST" and r["url"] == "/v1/chat/completions" for r in requests)
        done = requests if how == "completed" else requests[: len(requests) // 2]
        output, errors = [], []
        for request in reversed(done):
            status, body = answer(request["body"])
            response = {"status_code": status, "request_id": "r", "body": body}
            lines = output if status == 200 else errors
            lines.append({"id": "x", "custom_id": request["custom_id"], "response": response, "error": None})
        if how == "expired":
            problem = {"code": "batch_expired", "message": "This request could not be executed in time."}
            undone = requests[len(done) :]
            errors += [{"id": "x", "custom_id": r["custom_id"], "response": None, "error": problem} for r in undone]
        batch["request_counts"] |= {"completed": len(output), "failed": len(errors)}
        for name, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                batch[name] = self._file("".join(json.dumps(line) + "\n" for line in lines).encode())["id"]

    def _file(self, content: bytes) -> dict[str, Any]:
        id = f"file-{next(self._numbers)}"
        self.files[id] = content
        described = {"id": id, "object": "file", "bytes": len(content), "created_at": 0, "filename": "requests.jsonl"}
        return described | {"purpose": "batch", "status": "processed"}
