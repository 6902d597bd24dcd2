"""Find retrievers, strategies, loaders, embedders, data sets and commands by entry points.

The pyproject.toml of kgrag declares its own like any other package does, in a group for each kind:

    [project.entry-points."kgrag.retrievers"]
    mine = "my_package.mine:Mine"
"""

import difflib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from kgrag.values.errors import ConfigurationError, NotFoundError

T = TypeVar("T")


class Plugins(Mapping[str, T], Generic[T]):
    """The parts of a kind by name, sorted; each is imported at its first use.

    `group`: the group of entry points; `kind`: the word for one of them in messages.
    """

    def __init__(self, group: str, kind: str) -> None:
        self.group = group
        self.kind = kind

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        entries: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self.group), key=lambda e: (e.name, e.value)):
            first = entries.setdefault(entry.name, entry)
            if first.value != entry.value:
                raise ConfigurationError(
                    f"Two packages bring the {self.kind} {entry.name!r}: {first.value} and {entry.value}.",
                    "Uninstall one of them.",
                )
        return entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entry_points)

    def __len__(self) -> int:
        return len(self._entry_points)

    def __contains__(self, name: object) -> bool:
        return name in self._entry_points

    def __getitem__(self, name: str) -> T:
        """Import a part. Raises KeyError, or ConfigurationError if its package cannot be imported."""
        entry = self._entry_points[name]
        try:
            part: Any = entry.load()
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(
                f"The {self.kind} {name!r} cannot be imported from {entry.value}: {error}",
                "Install the package that brings it again, or uninstall it.",
            ) from error
        return part  # type: ignore[no-any-return]

    def find(self, name: str) -> T:
        """Return a part by its name. Raises NotFoundError with the nearest and all names."""
        if name not in self._entry_points:
            near = difflib.get_close_matches(name, self._entry_points, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise NotFoundError(f"There is no {self.kind} {name!r}.", f"{hint}Choose one of: {', '.join(self)}.")
        return self[name]
