"""Source formats -> Documents: texts, pages, books, office files, e-mails, rows of tables, and folders of them."""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.loaders.base import BadInput as BadInput
    from kgrag.loaders.base import Format as Format
    from kgrag.loaders.base import Source as Source
    from kgrag.loaders.base import read_text as read_text
    from kgrag.loaders.base import whole as whole
    from kgrag.loaders.dispatch import LOADERS as LOADERS
    from kgrag.loaders.dispatch import load as load
    from kgrag.loaders.named_rows import Columns as Columns
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "base": "BadInput Format Source read_text whole",
            "dispatch": "LOADERS load",
            "named_rows": "Columns",
        },
    )
