"""The tables of a collection: what the rows of each label and each kind of relationship hold, and who takes them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kgrag.models.embed import Vectors

NODES = {
    "Document": ("id:ID(Document)", "content_hash", "updated:datetime"),
    "Passage": ("id:ID(Passage)", "collection", "name", "title", "section", "text", "tokens:long", "stems",
                "title_stems", "sentences", "ordinal:long", "embedding:float[]", "similar_floor:double",
                "todo:string[]", "page:long", "last_page:long"),
    "Page": ("id:ID(Page)", "collection", "name", "number:long", "label", "text"),
    "Table": ("id:ID(Table)", "collection", "name", "number:long", "caption", "markdown", "page:long",
              "last_page:long"),
    "Triple": ("id:ID(Triple)", "collection", "name", "subject", "predicate", "object", "text", "embedding:float[]"),
    "Entity": ("id:ID(Entity)", "collection", "name", "normal", "folded", "df:long", "ntit:long", "phrases:long",
               "named:boolean", "stemmed", "embedding:float[]", "similar_floor:double", "todo:string[]"),
    "Word": ("id:ID(Word)", "collection", "name", "stem", "df:long", "class:long", "upper:long", "lower:long"),
    "Keyword": ("id:ID(Keyword)", "collection", "name", "text", "stem", "df:long"),
    "Collection": ("name:ID(Collection)", "collection", "number:long", "embedder", "dimension:long", "embedding",
                   "settings", "language", "stemmer", "schema_version:long", "created:datetime", "passages:long",
                   "class:long", "density:double", "density0:double", "linked:boolean"),
    "Schema": ("id:ID(Schema)", "name", "collections:long", "touched:datetime"),
}  # fmt: skip
EDGES = {
    "HOLDS": ("Collection", "Document"),
    "HAS_PASSAGE": ("Document", "Passage"),
    "NEXT": ("Passage", "Passage"),
    "ABOUT": ("Document", "Entity", "weight:double"),
    "PASSAGE_ABOUT": ("Passage", "Entity", "weight:double"),
    "STATES": ("Passage", "Triple"),
    "SUBJECT": ("Triple", "Entity"),
    "OBJECT": ("Triple", "Entity"),
    "MENTIONS": ("Passage", "Entity", "via", "positions:long[]", "stated:boolean", "about:boolean"),
    "HAS_KEYWORD": ("Passage", "Keyword", "weight:double"),
    "SIMILAR": ("Passage", "Passage", "score:double", "via"),
    "NAME_SIMILAR": ("Entity", "Entity", "score:double", "via"),
    "HAS_PAGE": ("Document", "Page"),
    "HAS_TABLE": ("Document", "Table"),
    "PAGE_NEXT": ("Page", "Page"),
    "PAGE_CONTAINS": ("Page", "Table"),
    "CONTAINS": ("Page", "Passage"),
    "OF_TABLE": ("Passage", "Table"),
    "LINKS_TO": ("Document", "Document"),
}

TYPES = {"PASSAGE_ABOUT": "ABOUT", "PAGE_NEXT": "NEXT", "PAGE_CONTAINS": "CONTAINS", "NAME_SIMILAR": "SIMILAR"}
"""The relationship types of kinds that are not called by their type, since they join other labels, too."""


def property_names(table: str) -> list[str]:
    """Return the properties that the columns of a table hold, in order; of relationships, those behind their ends."""
    columns = NODES[table] if table in NODES else EDGES[table][2:]
    return [column.partition(":")[0] for column in columns]


class Lines(Protocol):
    """Rows of one table, held in memory until `Tables` takes them. They can be sent to another process."""

    def write(self, *values: object) -> None:
        """Add a row of a node; what is missing at its end is nothing."""

    def link(self, start: str, end: str, *values: object) -> None:
        """Add a row of a relationship between the nodes of two ids."""


class Tables(Protocol):
    """Where the rows of a collection go: files that Neo4j imports, or transactions."""

    two_steps: bool
    """Whether passages and names are written as they are read, and completed by `amend` when all is read."""

    def lines(self) -> Lines:
        """Return a place for rows of one table."""

    def take(self, lines: Mapping[str, Any]) -> None:
        """Take rows that places of `lines` hold, by the name of their table."""

    def write(self, table: str, *values: object) -> None:
        """Take a row of a node."""

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """Take a row of a relationship."""

    def amend(self, table: str, id: str, **properties: object) -> None:
        """Set properties of a node that was written, in two steps."""

    def checkpoint(self) -> None:
        """Note that what was taken so far is whole documents, and may be written."""

    def release(self, table: str) -> None:
        """Note that the ends of all relationships of a table are written."""

    def begin_relations(self) -> None:
        """Note that all documents are read: what is taken from now on is complete only when all of it is."""

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """Return the last values of a document's row; None if this table cannot hold them."""

    def vectors(self, vectors: Vectors) -> Sequence[object]:
        """Return the value of each row of a matrix of float32 [n, d]; None for a row of zeros, which is no vector."""
