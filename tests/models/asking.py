"""A question that tests ask a scripted model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripted import Scripted

from kgrag.models.chat import Message, Reply
from kgrag.models.openai_chat import OpenAIChat

ASKED = [Message("system", "Be short."), Message("user", "Who designed the Fram?")]


@contextmanager
def chat(scripted: Scripted, cache: Path | None = None, **changes: Any) -> Iterator[OpenAIChat]:
    with OpenAIChat(scripted.settings(**changes), cache) as model:
        yield model


def ask(model: OpenAIChat, task: str = "answer", **options: Any) -> Reply:
    return model.chat(ASKED, task=task, **options)
