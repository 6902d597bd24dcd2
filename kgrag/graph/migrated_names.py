"""What documents, passages and triples of an older version name, by the rules of this one."""

from collections.abc import Mapping
from typing import Any

from kgrag.text.aliases import Alias, passage_aliases, title_aliases
from kgrag.text.languages import Language
from kgrag.text.tokens import known_by, normalise
from kgrag.values.identity import entity_id

Row = dict[str, Any]

_LEAD = 200  # characters of a document's first passage that may name it


class Names:
    """Rows of entities, and of what names them, of a part of a collection."""

    def __init__(self, collection: str, language: Language) -> None:
        """Begin without any; the rows are for this collection, whose texts are in this language."""
        self.collection, self.language = collection, language
        self.entities: dict[str, Row] = {}
        self.about: dict[str, list[Row]] = {"Document": [], "Passage": []}
        self.kept: dict[str, list[Row]] = {"Document": [], "Passage": []}
        self.ends: list[Row] = []

    def add_document(self, row: Mapping[str, Any]) -> None:
        """Add what a row of `cypher/look_up/named_documents.cypher` names."""
        passages, title = row["passages"], row["title"]
        lead = passages[0]["text"][:_LEAD] if passages else ""
        self._name("Document", row["id"], title_aliases(title, lead, self.language))
        paths = [*row["outline"].split("\n"), *(passage["section"] for passage in passages)]
        headings = {path.rsplit(" > ", 1)[-1].strip() for path in paths} - {""}
        for passage in passages:
            aliases = []
            if len(passages) > 1 or (headings and not title):
                aliases = passage_aliases(passage["section"], passage["text"], headings, self.language)
            self._name("Passage", passage["id"], aliases)

    def add_triple(self, row: Mapping[str, Any]) -> None:
        """Add the ends of a row of `cypher/look_up/stated.cypher`."""
        ends = {}
        for end in ("subject", "object"):
            normal = normalise(row[end], self.language)
            if not normal:
                return
            ends[end] = self._entity(normal, row[end])
        self.ends.append({"id": row["id"], **ends})

    def _name(self, label: str, id: str, aliases: list[Alias]) -> None:
        entities = [self._entity(alias.normal, alias.surface) for alias in aliases]
        self.kept[label].append({"id": id, "entities": entities})
        self.about[label] += [
            {"id": id, "entity": entity, "weight": alias.weight}
            for alias, entity in zip(aliases, entities, strict=True)
        ]

    def _entity(self, normal: str, surface: str) -> str:
        id = entity_id(self.collection, normal)
        known = self.entities.get(id)
        if known is None or surface < known["name"]:
            self.entities[id] = {"id": id, "name": surface, **known_by(normal, self.language)}
        return id
