"""Communities: entities that belong together, in levels, each with a report on what the texts say of them (GraphRAG).

Source: Edge et al. (2024), section 3.1. The graph is the ledger: a community keeps its members while the collection
grows, and its report while what it rests on stays the same. Interrupted at any moment and run again, it goes on: what
is written is not asked for again. A report that a model wrote is never replaced by sentences; where it no longer holds,
it is marked (`stale`) until a model writes it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.community_plan import SIZE, Network, Planned, digest, plan, read_network
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.group_texts import (
    EXTRACTED,
    GroupText,
    Writer,
    Writing,
    WritingReport,
    bytes_of,
    extracted,
    prompt_text,
)
from kgrag.indexing.vectors import embedded_or_logged
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.embed import Embedder
from kgrag.models.facts import lines
from kgrag.models.prompted import PromptedModel, titled
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings, Settings
from kgrag.text.tokens import caption
from kgrag.values.documents import Triple
from kgrag.values.events import Progress

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

    WHOLE: ClassVar = True
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

    def extracted(self, groups: Sequence[Reported]) -> list[GroupText]:
        """See Writer; they are called by the key names."""
        passages = [row["passages"] for row in self.material(groups)]
        sentences = extracted(passages, self.embedder, self.collection.language.code)
        return [GroupText(group.named, sentence.text) for group, sentence in zip(groups, sentences, strict=True)]

    def by_model(self, material: Material, llm: PromptedModel) -> GroupText:
        """See Writer."""
        reply = llm.structured(TASK, Report, **values(material, self.tokens))
        title, summary, *findings = (" ".join(s.split()) for s in (reply.title, reply.summary, *reply.findings))
        return GroupText(title or self.heading(material), "\n".join([summary, *filter(None, findings[:_FINDINGS])]))

    def write(self, groups: Sequence[Reported], reports: Sequence[GroupText], origin: str) -> None:
        """See Writer."""
        vectors = embedded_or_logged(self.embedder, [s.text for s in reports], "reports")
        rows = [
            {
                "id": group.id,
                "name": caption(s.name),
                "title": s.name,
                "text": s.text,
                "rests_on": group.rests_on,
                "vector": vector,
            }
            for group, s, vector in zip(groups, reports, vectors, strict=True)
        ]
        self.graph.run("write/community_reports", rows=rows, embedding=self.collection.embedding, made=origin)
        self.made.update({group.id: (group.rests_on, origin) for group in groups})


def materials(graph: Graph, ids: Sequence[str]) -> list[Material]:
    """Return the inputs of the reports on communities, in their order."""
    rows = {row["id"]: dict(row) for row in graph.run("stages/community_texts", ids=list(ids), facts=_FACTS)}
    return [rows[id] for id in ids if id in rows]


def values(material: Material, tokens: int) -> dict[str, str]:
    """Return the values of the prompt: reports of its parts, then passages, as many as fit.

    GraphRAG, section 3.1.5.
    """
    texts = [*material["reports"], *material["passages"]]
    return {
        "names": titled(", ".join(material["names"])),
        "facts": lines(Triple(*fact) for fact in material["facts"]),
        "texts": prompt_text(texts, tokens),
    }


_LAID = 200  # communities written at once
_REMOVED = 5000  # removed at once


def build(
    graph: Graph,
    collection: Collection,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    llm: PromptedModel | None = None,
    threads: int = 8,
    size: int = SIZE,
    tokens: int = TOKENS,
) -> WritingReport:
    """Find the communities of a collection, or update them; with `llm` a model writes the missing reports.

    `size`: most members of one that is not parted again; `tokens`: most that a report is made from. When the budget is
    used up or the server is out of reach, what was received is written. Raises ConfigurationError when
    graspologic-native is not installed, DatabaseError.
    """
    name = collection.name
    writing = Writing(llm, threads, progress)
    version = llm.prompt(TASK).version if llm is not None else None
    run_corpus_stages(graph, collection, settings, progress, embedder)
    progress("communities", 0, None)
    laid = int(graph.run("stages/communities_laid", collection=name)[0]["names"])
    network = read_network(graph, collection)
    there = {row["id"]: dict(row) for row in graph.stream("stages/communities", collection=name)}
    planned = plan(network, list(there.values()), laid, name, size)
    if planned.again and laid:
        graph.run("write/communities_laid", collection=name, names=0)
    _lay(graph, collection, network, planned.communities, there, progress)
    removed = _remove(graph, sorted(there.keys() - {each.id for each in planned.communities}))
    graph.run("write/communities_laid", collection=name, names=planned.names if planned.again else laid)

    states = {id: (row["rests_on"] or "", row["made"] or "") for id, row in there.items()}
    writer = Reports(graph, collection, embedder, tokens, states)
    levels = [0] * (max((each.level for each in planned.communities), default=-1) + 1)
    stale = 0
    for level in range(len(levels) - 1, -1, -1):
        due, old = _due(planned.communities, level, states, version)
        graph.run("write/stale_communities", ids=old)
        writing.run(writer, due, f"reports {level}")
        content = {group.id: group.rests_on for group in due}
        stale += sum(states[id][0] != content[id] for id in old)
        levels[level] = sum(each.level == level for each in planned.communities)
    return writing.report(levels, removed, stale)


def remove(graph: Graph, collection: Collection) -> int:
    """Remove all communities; returns how many there were."""
    graph.run("write/communities_laid", collection=collection.name, names=0)
    return _remove(graph, [row["id"] for row in graph.stream("stages/communities", collection=collection.name)])


def estimate(
    graph: Graph, collection: Collection, chat: ChatSettings, progress: Progress, *, tokens: int = TOKENS
) -> Estimate:
    """Return the most that a model takes for the missing reports, once communities are known; calls none.

    Reports on parts are taken to be as long as replies usually are.
    """
    prompt = load_prompt(TASK, chat.prompts)
    rows = [dict(row) for row in graph.stream("stages/communities", collection=collection.name)]
    due = {row["id"] for row in rows if row["stale"] or row["made"] != prompt.version}
    ids, size = sorted(due), 0
    for start in range(0, len(ids), _LAID):
        for material in materials(graph, ids[start : start + _LAID]):
            reports = [{**r, "text": "x" * bytes_of(WRITTEN)} if r["id"] in due else r for r in material["reports"]]
            filled = values({**material, "reports": reports}, tokens)
            size += sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages(**filled))
        progress("reports", min(start + _LAID, len(ids)), len(ids))
    return estimate_calls(chat, TASK, len(ids), size, WRITTEN)


def _lay(
    graph: Graph,
    collection: Collection,
    network: Network,
    planned: Sequence[Planned],
    there: dict[str, dict[str, Any]],
    progress: Progress,
) -> None:
    """Write the communities that are not as they should be, with their edges; the coarsest first."""
    entities: dict[int, list[str]] = {}
    for id, node in zip(network.entities, network.node.tolist(), strict=True):
        entities.setdefault(node, []).append(id)
    rows: list[dict[str, Any]] = []
    for each in planned:
        parent = None if each.parent is None else planned[each.parent].id
        laid = digest([each.content, str(each.level), parent or ""])
        if there.get(each.id, {}).get("laid") == laid:
            continue
        rows.append(
            {
                "id": each.id,
                "level": each.level,
                "name": caption(_named(each)),
                "title": _named(each),
                "names": each.names,
                "size": sum(len(entities[node]) for node in each.nodes.tolist()),
                "laid": laid,
                "parent": parent,
                "members": [id for node in each.own for id in entities[node]],
                "passages": [{"id": network.passages[i], "weight": weight} for i, weight in each.passages],
            }
        )
    for start in range(0, len(rows), _LAID):
        progress("communities", start, len(rows))
        graph.run(
            "write/communities",
            rows=rows[start : start + _LAID],
            collection=collection.name,
            labels=[collection.label("Community")],
        )
    if rows:
        progress("communities", len(rows), len(rows))


def _due(
    planned: Sequence[Planned], level: int, reports: dict[str, tuple[str, str]], version: str | None
) -> tuple[list[Reported], list[str]]:
    """Return the reports of a level to be written, and the invalid ones of a model among them."""
    parts: dict[int, list[str]] = {}
    for each in planned:
        if each.parent is not None:
            parts.setdefault(each.parent, []).append(each.id)
    due, old = [], []
    for place, each in enumerate(planned):
        if each.level != level:
            continue
        rests_on = digest([each.content, *sorted(" ".join((id, *reports[id])) for id in parts.get(place, ()))])
        was, by = reports.get(each.id, ("", ""))
        changed, paid = was != rests_on, by not in ("", EXTRACTED)
        if changed or (version is not None and by != version):
            due.append(Reported(each.id, _named(each), rests_on, changed and not paid))
        if changed and paid:
            old.append(each.id)
    return due, old


def _named(planned: Planned) -> str:
    return ", ".join(planned.names[:4])


def _remove(graph: Graph, ids: Sequence[str]) -> int:
    removed = 0
    for start in range(0, len(ids), _REMOVED):
        removed += graph.run("write/remove_communities", ids=list(ids[start : start + _REMOVED]))[0]["removed"]
    return removed
