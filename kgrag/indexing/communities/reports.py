"""What is said of a community: sentences of the passages that name most of its members, or a report by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.group_texts import Writer
from kgrag.indexing.summaries import Said, extracted, shown
from kgrag.indexing.vectors import embedded_or_logged
from kgrag.models.embed import Embedder
from kgrag.models.facts import lines
from kgrag.models.shown import titled
from kgrag.models.tasks import Tasks
from kgrag.text.tokens import caption
from kgrag.values.documents import Triple

TASK = "report"
TOKENS = 8000
"""Most tokens of texts that a report is made from (GraphRAG, its code)."""
WRITTEN = 350
"""Tokens of a report on average."""
_FINDINGS = 10
_FACTS = 40

Material = Mapping[str, Any]
"""A row of `cypher/stages/community_texts.cypher`."""


class Report(BaseModel):
    """A reply: a heading, a summary, and findings, each a sentence (GraphRAG, appendix)."""

    title: str
    summary: str
    findings: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reported:
    """A community whose report is due; `named`: its key names."""

    id: str
    named: str
    rests_on: str
    changed: bool = True


@dataclass(slots=True)
class Reports(Writer[Reported]):
    """Writes reports of communities; those of their parts are written before. `tokens`: most that one is made from."""

    task: ClassVar[str] = TASK
    graph: Graph
    collection: Collection
    embedder: Embedder
    tokens: int
    made: dict[str, tuple[str, str]]
    """Community -> what its report rests on, and what made it; kept up to date."""

    def material(self, groups: Sequence[Reported]) -> list[Material]:
        """See Writer."""
        return materials(self.graph, [group.id for group in groups])

    def heading(self, material: Material) -> str:
        """See Writer."""
        return ", ".join(material["names"][:3])

    def extracted(self, groups: Sequence[Reported]) -> list[Said]:
        """See Writer; they are called by the key names."""
        passages = [row["passages"] for row in self.material(groups)]
        said = extracted(passages, self.embedder, self.collection.language.code)
        return [Said(group.named, its.text) for group, its in zip(groups, said, strict=True)]

    def asked(self, material: Material, tasks: Tasks) -> Said:
        """See Writer."""
        reply = tasks.structured(TASK, Report, **values(material, self.tokens))
        title, summary, *findings = (" ".join(s.split()) for s in (reply.title, reply.summary, *reply.findings))
        return Said(title or self.heading(material), "\n".join([summary, *filter(None, findings[:_FINDINGS])]))

    def write(self, groups: Sequence[Reported], said: Sequence[Said], made: str) -> None:
        """See Writer."""
        vectors = embedded_or_logged(self.embedder, [s.text for s in said], "reports")
        rows = [
            {
                "id": group.id,
                "name": caption(s.name),
                "title": s.name,
                "text": s.text,
                "rests_on": group.rests_on,
                "vector": vector,
            }
            for group, s, vector in zip(groups, said, vectors, strict=True)
        ]
        self.graph.run("write/community_reports", rows=rows, embedding=self.collection.embedding, made=made)
        self.made.update({group.id: (group.rests_on, made) for group in groups})


def materials(graph: Graph, ids: Sequence[str]) -> list[Material]:
    """What the reports on communities are made from, in their order."""
    found = {row["id"]: dict(row) for row in graph.run("stages/community_texts", ids=list(ids), facts=_FACTS)}
    return [found[id] for id in ids if id in found]


def values(material: Material, tokens: int) -> dict[str, str]:
    """What is filled into the prompt: reports of its parts, then passages, as many as fit (GraphRAG, section 3.1.5)."""
    texts = [*material["reports"], *material["passages"]]
    return {
        "names": titled(", ".join(material["names"])),
        "facts": lines(Triple(*fact) for fact in material["facts"]),
        "texts": shown(texts, tokens),
    }
