"""Source formats -> Documents: texts, pages, books, office files, e-mails, rows of tables, and folders of them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.loaders.dispatch import LOADERS, load
    from kgrag.loaders.rows import Columns

__all__ = ["LOADERS", "Columns", "load"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kgrag.loaders import dispatch  # on first use: a reading process needs none of it

    return getattr(dispatch, name)
