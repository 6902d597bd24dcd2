"""The prompts, one file each, NAME.txt: the messages to a model, with $names for values.

A line [system] or [user] begins each message. The version of a prompt is the hash of its text, which marks results of
other versions. A folder of the user may hold files that replace these.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Literal, cast

from kgrag.models.chat import Message
from kgrag.values.errors import ConfigurationError

_ROLE = re.compile(r"^\[(system|user|assistant)\][ \t]*$", re.MULTILINE)
_SUFFIX = ".txt"
SETTING = "KGRAG_CHAT__PROMPTS"
"""The setting that names the folder of your own prompts."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; `version`: 12 digits of a hash of its text."""

    name: str
    text: str

    @property
    def version(self) -> str:
        """12 hexadecimal digits of the hash of the text."""
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()

    @property
    def values(self) -> frozenset[str]:
        """The names of the placeholders."""
        return frozenset(Template(self.text).get_identifiers())

    def messages(self, **values: str) -> list[Message]:
        """Return the messages with the values filled in; names inside values are not replaced."""
        pieces = _ROLE.split(self.text)
        roles, contents = pieces[1::2], pieces[2::2]
        return [
            Message(cast(Literal["system", "user"], role), Template(content).substitute(values).strip())
            for role, content in zip(roles, contents, strict=True)
        ]


def names() -> list[str]:
    """Return the prompts of kgrag."""
    prompt_files = (f.name for f in files(__name__).iterdir() if f.name.endswith(_SUFFIX))
    return sorted(name.removesuffix(_SUFFIX) for name in prompt_files)


def file_name(name: str) -> str:
    """Return the file name of a prompt."""
    return f"{name}{_SUFFIX}"


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Load a prompt by name: from `folder` if it has one, else kgrag's.

    Raises ConfigurationError for a missing folder, and for an unusable prompt, naming its missing fields.
    """
    own = Prompt(name, files(__name__).joinpath(file_name(name)).read_text(encoding="utf-8"))
    if folder is None:
        return own
    if not folder.is_dir():
        raise ConfigurationError(
            f"There is no folder {folder} of prompts.",
            f"Make it: kgrag list prompts --copy {folder}, or unset {SETTING}.",
        )
    path = folder / file_name(name)
    if not path.exists():
        return own
    try:
        prompt = Prompt(name, path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The prompt {path} cannot be read: {error}", "It must be a text in UTF-8.") from error
    if not Template(prompt.text).is_valid() or prompt.values != own.values or not _ROLE.match(prompt.text):
        values = ", ".join(f"${value}" for value in sorted(own.values))
        raise ConfigurationError(
            f"The prompt {path} cannot be used.",
            f"It begins with a line [system] or [user], and holds just: {values}. A dollar sign is written $$.",
        )
    return prompt
