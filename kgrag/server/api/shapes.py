"""What routes reply, as OpenAPI says it: the fields of the values that kgrag works with, in the forms of `kgrag.wire`.

Replies are sent as they are; nothing here is at work while a request is answered.
"""

from dataclasses import fields
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, Discriminator, create_model

from kgrag import wire
from kgrag.retrieval.quoted_trail import Hop
from kgrag.values.events import Answer, Ranked, Retrieved
from kgrag.values.results import Hit, Passage, Ranking, Step
from kgrag.values.rows import Rows

Responses = dict[int | str, dict[str, Any]]


def shape(name: str, /, like: type | None = None, *, without: tuple[str, ...] = (), **more: Any) -> type[BaseModel]:
    """Return an object with the fields of a dataclass, those `without` left out, and `more`; all are required."""
    own = {f.name: get_type_hints(like)[f.name] for f in fields(like) if f.name not in without} if like else {}
    definitions: dict[str, Any] = {key: (kind, ...) for key, kind in {**own, **more}.items()}
    return create_model(name, __doc__=like.__doc__ if like else None, **definitions)


_HIT = shape("RankedHit", Hit, rank=int, trail=str)
_FOUND = shape("Found", rank=int, score=float, id=str, title=str, why=tuple[Step, ...])
_HITS: dict[str, Any] = {"hits": list[_FOUND]}  # type: ignore[valid-type]
_EVENT: Any = reduce(
    or_,
    (
        shape(name, kind, **{"type": Literal[name], **(_HITS if kind in (Retrieved, Ranked) else {})})
        for name, kind in wire.EVENTS.items()
    ),
)
_RANKING: Any = shape("Ranking", Ranking, hits=list[_HIT], hops=list[Hop])  # type: ignore[valid-type]
_FORMS: dict[type, dict[str, Any]] = {  # what is not sent by its fields alone
    Ranking: {"hits": list[_HIT], "hops": list[Hop]},  # type: ignore[valid-type]
    Answer: {
        "ranking": _RANKING,
        "trace": list[Annotated[_EVENT, Discriminator("type")]],
        "passages": list[Passage],
    },
    Rows: {"rows": list[dict[str, Any]]},
}


def replies(kind: type, *, code: int = 200, may: dict[str, Any] | None = None) -> Responses:
    """Return a value of that kind with `version`.

    `may`: optional fields, with a name of their own in OpenAPI.
    """
    without = ("values",) if kind is Rows else ()
    model = shape(
        f"{'Saved' if may else ''}{kind.__name__}Reply",
        kind,
        without=without,
        version=Literal[wire.VERSION],
        **_FORMS.get(kind, {}),
    )
    optional: dict[str, Any] = {key: (kind_of_field, None) for key, kind_of_field in (may or {}).items()}
    return {code: {"model": create_model(model.__name__, __base__=model, **optional) if optional else model}}


def holds(name: str, /, **more: Any) -> Responses:
    """Return an object of these keys."""
    return {200: {"model": shape(name, **more)}}
