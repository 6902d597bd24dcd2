"""Parts of kgrag that are found by entry point: retrievers, strategies, loaders, embedders, data sets, commands.

kgrag's own are declared in its pyproject.toml like those of any other package, one group a kind:

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
    """The parts of one kind by name, sorted; each is imported when it is first asked for.

    `group` is the group of entry points, `kind` what one of them is called in a message.
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
        """Import a part. Raises KeyError, or ConfigurationError when its package does not load."""
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
        """Return the part of that name. Raises NotFoundError with the nearest and all names."""
        if name not in self._entry_points:
            near = difflib.get_close_matches(name, self._entry_points, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise NotFoundError(f"There is no {self.kind} {name!r}.", f"{hint}Choose one of: {', '.join(self)}.")
        return self[name]
