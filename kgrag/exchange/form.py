"""What every format holds besides nodes and edges: a header, and at the end what proves that nothing is missing."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

from kgrag.graph.contents import Fingerprint, Item
from kgrag.values.errors import InputError
from kgrag.values.installing import update_hint

VERSION = 1
"""Of the formats."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where an export comes from. `export` is its own id; `embeddings`: whether it has the vectors."""

    collection: str
    schema_version: int
    kgrag: str
    export: str
    exported: str
    embeddings: bool = True
    version: int = VERSION

    def plain(self) -> dict[str, Any]:
        """Return the header as JSON can hold it."""
        return asdict(self)

    @classmethod
    def of(cls, values: Any, place: str) -> "Header":
        """Return the header of a line. Raises InputError."""
        names = {f.name: f.type for f in fields(cls)}
        if not isinstance(values, Mapping) or not isinstance(values.get("version"), int):
            raise foreign(place)
        if values["version"] > VERSION:
            raise InputError(
                f"{place}: the export is of a newer kind ({values['version']}; this kgrag reads up to {VERSION}).",
                f"A newer kgrag wrote it: {update_hint()}",
            )
        if values.keys() != names.keys() or any(type(values[n]) is not its for n, its in names.items()):
            raise foreign(place)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Footer:
    """How many nodes and edges of each kind there are, and their hashes."""

    counts: Mapping[str, int]
    hashes: Mapping[str, str]

    def plain(self) -> dict[str, Any]:
        """Return the footer as JSON can hold it: kind -> number and hash."""
        return {kind: [self.counts[kind], self.hashes[kind]] for kind in self.hashes}

    @classmethod
    def of(cls, values: Any, place: str) -> "Footer":
        """Return the footer of a line. Raises InputError."""
        try:
            return cls({k: int(n) for k, (n, _) in values.items()}, {k: str(h) for k, (_, h) in values.items()})
        except (AttributeError, TypeError, ValueError) as error:
            raise damaged(place, "what it says of its own contents cannot be read") from error

    @classmethod
    def sum(cls, found: Fingerprint) -> "Footer":
        """Return the footer of the items read so far."""
        return cls(found.counts, found.hashes())


class Writer(Protocol):
    """Writes an export in some format."""

    def write(self, item: Item) -> None: ...  # noqa: D102
    def finish(self, footer: Footer) -> None: ...  # noqa: D102


def foreign(place: str) -> InputError:
    """Return the error for a file that no export wrote."""
    return InputError(
        f"{place}: this is no export of kgrag.",
        "`kgrag import` reads what `kgrag export` wrote; documents go in with `kgrag ingest`, backups with "
        "`kgrag db restore`.",
    )


def damaged(place: str, what: str) -> InputError:
    """Return the error for an export that was changed or cut."""
    return InputError(f"{place}: {what}.", "The file is damaged or was changed by hand: export it again.")


@contextmanager
def read_errors(place: str) -> Iterator[None]:
    """Turn what a damaged file makes the decoders raise into InputError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise damaged(place, f"the compressed file is cut off or broken ({error})") from error
    except UnicodeDecodeError as error:
        raise damaged(place, f"it is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}.", "Is the path right, and may you read it?") from error
