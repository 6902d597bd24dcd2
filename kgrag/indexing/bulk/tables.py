"""The tables of a bulk load: their columns, and the files they become."""

from pathlib import Path

from kgrag.graph import schema
from kgrag.graph.csv_files import Lines, Table
from kgrag.graph.local.bulk import Files

NUMBER = 1
"""Of the only collection in a database that was just imported."""

NODES = {
    "Document": ("id:ID(Document)", "content_hash", "updated:datetime"),
    "Passage": ("id:ID(Passage)", "collection", "name", "title", "section", "text", "tokens:long", "stems",
                "title_stems", "sentences", "ordinal:long", "embedding:float[]", "similar_floor:double",
                "todo:string[]", "page:long", "last_page:long"),
    "Page": ("id:ID(Page)", "collection", "name", "number:long", "label", "text"),
    "Table": ("id:ID(Table)", "collection", "name", "number:long", "caption", "markdown", "page:long",
              "last_page:long"),
    "Triple": ("id:ID(Triple)", "collection", "name", "subject", "predicate", "object", "text", "embedding:float[]"),
    "Entity": ("id:ID(Entity)", "collection", "name", "normal", "df:long", "ntit:long", "phrases:long",
               "named:boolean", "stemmed", "embedding:float[]", "todo:string[]"),
    "Word": ("id:ID(Word)", "collection", "name", "stem", "df:long", "class:long", "upper:long", "lower:long"),
    "Keyword": ("id:ID(Keyword)", "collection", "name", "text", "stem", "df:long"),
    "Collection": ("name:ID(Collection)", "collection", "number:long", "embedder", "dimension:long", "embedding",
                   "settings", "language", "schema_version:long", "created:datetime", "passages:long", "class:long",
                   "density:double", "density0:double"),
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
    "HAS_PAGE": ("Document", "Page"),
    "HAS_TABLE": ("Document", "Table"),
    "PAGE_NEXT": ("Page", "Page"),
    "PAGE_CONTAINS": ("Page", "Table"),
    "CONTAINS": ("Page", "Passage"),
    "OF_TABLE": ("Passage", "Table"),
}

_SEVERAL = {"PASSAGE_ABOUT": "ABOUT", "PAGE_NEXT": "NEXT", "PAGE_CONTAINS": "CONTAINS"}  # between other labels, too


class Tables:
    """The tables of nodes and of relationships, each a file in a folder, or with `part` files of about that size."""

    def __init__(self, folder: Path, part: int | None = None) -> None:
        self.nodes = {label: Table(folder, label, columns, part) for label, columns in NODES.items()}
        self.edges = {
            kind: Table(folder, kind, (f":START_ID({start})", f":END_ID({end})", *more), part)
            for kind, (start, end, *more) in EDGES.items()
        }

    def __getitem__(self, name: str) -> Table:
        return self.edges[name] if name in self.edges else self.nodes[name]

    def take(self, lines: dict[str, Lines]) -> None:
        """Write rows that were held, by the name of their table."""
        for name, its in lines.items():
            self[name].take(its)

    def close(self) -> Files:
        """The files, complete."""
        tables = [*self.nodes.values(), *self.edges.values()]
        for table in tables:
            table.close()
        nodes = {label: (t.header, *t.parts) for label, t in self.nodes.items() if t.rows}
        edges = {kind: (t.header, *t.parts) for kind, t in self.edges.items() if t.rows}
        return Files(
            nodes=[(":".join(schema.labels_of(label, NUMBER)), paths) for label, paths in nodes.items()],
            relationships=[(_SEVERAL.get(kind, kind), paths) for kind, paths in edges.items()],
            multiline=[path for t in tables if t.multiline for path in t.parts],
            longest=4 * max(t.longest for t in tables),  # bytes of characters
        )
