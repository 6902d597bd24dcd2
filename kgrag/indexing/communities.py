"""Communities: related entities, in levels, each with a report on the texts about them (GraphRAG).

Source: Edge et al. (2024), section 3.1. The graph is the ledger: a community keeps its members while the collection
grows, and its report while its sources stay the same. An interrupted run can be repeated and does not request finished
reports again. A model's report is never replaced by sentences; when outdated, it is marked `stale` until a model
rewrites it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.community_plan import Network, Planned, digest, plan, read_network
from kgrag.indexing.group_texts import EXTRACTED, Group, Grouping, GroupText, batches, bytes_of, extracted, prompt_text
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.facts import lines
from kgrag.models.prompted import PromptedModel, titled
from kgrag.models.prompts import load_prompt
from kgrag.settings import ChatSettings
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


@dataclass(frozen=True, kw_only=True)
class Reported(Group):
    """A community whose report is due; `named`: its key names."""

    named: str


@dataclass
class Communities(Grouping[Reported]):
    """The communities of a collection. `size`: members of a community from which it is divided again."""

    label: ClassVar[str] = "Community"
    task: ClassVar[str] = TASK

    def due(self, version: str | None) -> Iterator[tuple[str, list[Reported]]]:
        """See Grouping: reports on parts are written before those on the whole."""
        graph, collection, name = self.graph, self.collection, self.collection.name
        self.progress("communities", 0, None)
        laid = int(graph.run("stages/laid", collection=name, groups="communities")[0]["number"])
        network = read_network(graph, collection)
        there = {row["id"]: dict(row) for row in graph.stream("stages/communities", collection=name)}
        planned = plan(network, list(there.values()), laid, name, self.size)
        if planned.again and laid:
            graph.run("write/laid", collection=name, groups="communities", number=0)
        self._lay(network, planned.communities, there)
        self.removed = _remove(graph, sorted(there.keys() - {each.id for each in planned.communities}))
        number = planned.names if planned.again else laid
        graph.run("write/laid", collection=name, groups="communities", number=number)
        self.made = {id: (row["rests_on"] or "", row["made"] or "") for id, row in there.items()}
        counts = Counter(each.level for each in planned.communities)
        self.levels = [counts[level] for level in range(len(counts))]
        for level in reversed(range(len(counts))):
            due, old = _due(planned.communities, level, self.made, version)
            graph.run("write/stale_communities", ids=old)
            yield f"reports {level}", due
            content = {group.id: group.rests_on for group in due}
            self.stale += sum(self.made[id][0] != content[id] for id in old)

    def _lay(self, network: Network, planned: Sequence[Planned], there: dict[str, dict[str, Any]]) -> None:
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
            row = {"id": each.id, "level": each.level, "name": caption(_named(each)), "title": _named(each)}
            members = [id for node in each.own for id in entities[node]]
            size = sum(len(entities[node]) for node in each.nodes.tolist())
            passages = [{"id": network.passages[i], "weight": weight} for i, weight in each.passages]
            row |= {"names": each.names, "size": size, "laid": laid, "parent": parent}
            rows.append({**row, "members": members, "passages": passages})
        name, labels = self.collection.name, [self.collection.label("Community")]
        for batch in batches(rows, partial(self.progress, "communities")):
            self.graph.run("write/communities", rows=batch, collection=name, labels=labels)

    def material(self, groups: Sequence[Reported]) -> list[Material]:
        """See Grouping."""
        return materials(self.graph, [group.id for group in groups])

    def heading(self, material: Material) -> str:
        """See Grouping."""
        return ", ".join(material["names"][:3])

    def extracted(self, groups: Sequence[Reported]) -> list[GroupText]:
        """See Grouping; they are called by the key names."""
        passages = [row["passages"] for row in self.material(groups)]
        sentences = extracted(passages, self.embedder, self.collection.language.code)
        return [GroupText(group.named, sentence.text) for group, sentence in zip(groups, sentences, strict=True)]

    def by_model(self, material: Material, llm: PromptedModel) -> GroupText:
        """See Grouping."""
        reply = llm.structured(TASK, Report, **values(material))
        title, summary, *findings = (" ".join(s.split()) for s in (reply.title, reply.summary, *reply.findings))
        return GroupText(title or self.heading(material), "\n".join([summary, *filter(None, findings[:_FINDINGS])]))


def materials(graph: Graph, ids: Sequence[str]) -> list[Material]:
    """Return the inputs of the reports on communities, in their order."""
    rows = {row["id"]: dict(row) for row in graph.run("stages/community_texts", ids=list(ids), facts=_FACTS)}
    return [rows[id] for id in ids if id in rows]


def values(material: Material) -> dict[str, str]:
    """Return the values of the prompt: reports of its parts, then passages, as many as fit. GraphRAG, section 3.1.5."""
    texts = [*material["reports"], *material["passages"]]
    return {
        "names": titled(", ".join(material["names"])),
        "facts": lines(Triple(*fact) for fact in material["facts"]),
        "texts": prompt_text(texts, TOKENS),
    }


_REMOVED = 5000  # communities removed at once


def remove(graph: Graph, collection: Collection) -> int:
    """Remove all communities; returns how many there were."""
    graph.run("write/laid", collection=collection.name, groups="communities", number=0)
    return _remove(graph, [row["id"] for row in graph.stream("stages/communities", collection=collection.name)])


def estimate(graph: Graph, collection: Collection, chat: ChatSettings, progress: Progress) -> Estimate:
    """Return the most that a model takes for the missing reports, once communities are known; calls none.

    Reports on parts are taken to be as long as replies usually are.
    """
    prompt = load_prompt(TASK, chat.prompts)
    rows = [dict(row) for row in graph.stream("stages/communities", collection=collection.name)]
    due = {row["id"] for row in rows if row["stale"] or row["made"] != prompt.version}
    size = 0
    for batch in batches(sorted(due), partial(progress, "reports")):
        for material in materials(graph, batch):
            reports = [{**r, "text": "x" * bytes_of(WRITTEN)} if r["id"] in due else r for r in material["reports"]]
            filled = values({**material, "reports": reports})
            size += sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages(**filled))
    return estimate_calls(chat, TASK, len(due), size, WRITTEN)


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
            due.append(Reported(id=each.id, rests_on=rests_on, changed=changed and not paid, named=_named(each)))
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
