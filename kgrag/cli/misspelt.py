"""Settings that do not exist, and which one may be meant."""

import difflib
import os
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from kgrag.settings import Settings

_PREFIX, _BETWEEN = "KGRAG_", "__"


def meant(path: Sequence[str]) -> str:
    """The setting whose name is nearest to one that does not exist, as a variable; empty where none is near."""
    model: type[BaseModel] = Settings
    found: list[str] = []
    for part in path:
        near = difflib.get_close_matches(part.lower(), model.model_fields, n=1, cutoff=0.7)
        if not near:
            return ""
        found.append(near[0])
        kind = model.model_fields[near[0]].annotation
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            found += map(str.lower, path[len(found) :])
            break
        model = kind
    return f"{_PREFIX}{_BETWEEN.join(found).upper()}"


def unknown_variables() -> Iterator[tuple[str, str]]:
    """The variables of the environment that no setting has and that are near to one, each with that one."""
    for variable in sorted(os.environ):
        path = variable.upper().removeprefix(_PREFIX).lower().split(_BETWEEN)
        if variable.upper().startswith(_PREFIX) and path[0] not in Settings.model_fields and (near := meant(path)):
            yield variable, near
