"""KGP: knowledge-graph prompting, a breadth-first walk in which a guide says which passages to visit next.

KGP, section 4 and Algorithm 1. Seeds come from the words of the question; each path of passages goes on to those of
its neighbours that fit best what is wanted next: the question's words (KGP w/o LM), a vector of the question and the
path by an encoder that was trained to predict the next supporting fact (KGP-MDR), or the evidence that a language model
imagines (KGP-T5, KGP-LLaMA). All open paths go on at once: one round trip a level.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.models.chat import no_model
from kgrag.models.embed import embed_questions
from kgrag.models.parallel import in_parallel
from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.hops import so_far
from kgrag.retrieval.linking import question_terms
from kgrag.settings import BRIDGE_CAP
from kgrag.types import Passage, Step

_LETTERS = 4000  # of a path's text that a guide is given
_FEW = 5  # passages of a name, where words or an encoder guide: the more there are, the more lead astray


@dataclass(frozen=True, slots=True)
class Path:
    """Passages that lead from one to the next, with the trail; `score`: how well the last one fits what was wanted."""

    passages: tuple[str, ...]
    why: tuple[Step, ...]
    score: float


class Kgp(Retriever):
    """Paths of passages from those that share words with the question; ranked as they were visited."""

    name = "kgp"

    def __init__(self, index: Index) -> None:
        """Raises ConfigurationError when a language model is to guide and none is configured."""
        super().__init__(index)
        if index.settings.kgp.guide == "chat" and index.tasks is None:
            raise no_model()

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; at most `budget` passages, in the order of the walk. Raises ModelError."""
        s = self.index.settings.kgp
        seeds = Bm25(self.index).rank(query, s.seeds)
        paths = [Path((x.id,), x.why, x.score) for x in seeds][: s.budget]
        visited = {x.id: x for x in seeds[: s.budget]}
        terms = question_terms(self.index.reader, query.text) if s.guide == "words" else []
        while paths and len(visited) < s.budget:
            longer = []
            for path in self._level(query, paths, list(visited), terms):
                end = path.passages[-1]
                if end not in visited and len(visited) < s.budget:
                    visited[end] = Scored(end, path.score, path.why)
                    longer.append(path)
            paths = longer
        found = list(visited.values())
        if query.filter:
            allowed = self.index.reader.passing([x.id for x in found], query.filter)
            found = [x for x in found if x.id in allowed]
        return [Scored(x.id, 1 / rank, x.why) for rank, x in enumerate(found[:n], 1)]

    def _level(
        self, query: Query, paths: Sequence[Path], seen: list[str], terms: list[dict[str, object]]
    ) -> list[Path]:
        """Every path with each of the passages that it goes on to, the best first (Algorithm 1, lines 5 to 10)."""
        s = self.index.settings.kgp
        wanted = self._wanted(query, paths)
        found = self.index.reader.kgp(
            paths=[{"id": p.passages[-1], "vector": v} for p, v in zip(paths, wanted, strict=True)],
            seen=seen,
            edges=list(s.edges),
            terms=terms,
            cap=s.cap or (BRIDGE_CAP if s.guide == "chat" else _FEW),
            keywords=s.keywords,
            similar=s.similar,
            rho=s.rho,
            keep=s.branch,
        )
        names = self.index.reader.captions([], [row["id"] for rows in found.values() for row in rows])
        return [
            Path((*path.passages, row["id"]), (*path.why, *_steps(row, names)), row["score"])
            for number, path in enumerate(paths)
            for row in found.get(number, [])
        ]

    def _wanted(self, query: Query, paths: Sequence[Path]) -> list[list[float]]:
        """For each path the vector of what is wanted next; empty where words decide."""
        guide = self.index.settings.kgp.guide
        if guide == "words":
            return [[] for _ in paths]
        texts = self.index.reader.passages(sorted({id for path in paths for id in path.passages}))
        told = [[texts[id] for id in path.passages if id in texts] for path in paths]
        if guide == "encoder":
            wanted = [so_far(query.text, [(p.title, p.text) for p in path]) for path in told]
        else:
            wanted = self._imagined(query, told)
        return embed_questions(self.index.embedder, wanted).tolist()  # type: ignore[no-any-return]

    def _imagined(self, query: Query, told: Sequence[Sequence[Passage]]) -> list[str]:
        """The evidence that the language model would like to see next, for each path."""
        assert self.index.tasks is not None
        tasks = self.index.tasks.heard_by(query.listener)

        def imagine(number: int) -> str:
            evidence = "\n\n".join(_text(p) for p in told[number])[:_LETTERS]
            return tasks.text("evidence", prompt="next-evidence", question=query.text, evidence=evidence)

        replies = dict(in_parallel(imagine, range(len(told)), len(told) or 1))
        failed = [reply for reply in replies.values() if isinstance(reply, Exception)]
        if failed:
            raise failed[0]
        return [str(replies[number]) for number in range(len(told))]


_VIA = {
    "keyword": ("has keyword", "Keyword", "keyword of"),
    "mention": ("mentions", "Entity", "mentioned in"),
    "tagme": ("mentions", "Entity", "mentioned in"),
    "title": ("mentions", "Entity", "title of"),
    "titled": ("is titled", "Entity", "mentioned in"),
    "page": ("on", "Page", "holds"),
    "similar": ("", "", "similar to"),
    "next": ("", "", "next to"),
}


def _steps(row: dict[str, str], names: dict[str, str]) -> tuple[Step, ...]:
    """From one passage to the next: over what ties them."""
    out, label, via = _VIA[row["kind"]]
    last = Step(via, "Passage", names.get(row["id"], ""), float(row["score"]))
    return (Step(out, label, row["name"]), last) if out else (last,)


def _text(passage: Passage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text
