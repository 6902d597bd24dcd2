"""KGP: knowledge-graph prompting, a breadth-first walk in which a guide says which passages to visit next.

KGP, section 4 and Algorithm 1. Seeds come from the words of the question; each path of passages goes on to those of
its neighbours that fit best what is wanted next: the question's words (KGP w/o LM), a vector of the question and the
path by an encoder that was trained to predict the next supporting fact (KGP-MDR), or the evidence that a language model
imagines (KGP-T5, KGP-LLaMA). All open paths go on at once: one round trip a level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from kgrag.events import Imagined
from kgrag.models.chat import no_model
from kgrag.models.embed import embed_questions
from kgrag.models.facts import framed, harmless
from kgrag.models.parallel import in_parallel
from kgrag.options import Options
from kgrag.retrieval.base import BRIDGE_CAP, Query, Retriever, Scored, Searchable
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.gnn_ret import OVER
from kgrag.retrieval.hops import so_far
from kgrag.retrieval.linking import question_terms
from kgrag.retrieval.trail import follow
from kgrag.types import Passage, Step

_LETTERS = 4000  # of a path's text that a guide is given
_FEW = 5  # passages of a name, where words or an encoder guide: the more there are, the more lead astray


@dataclass(frozen=True, slots=True)
class Path:
    """Passages that lead from one to the next, with the trail; `score`: how well the last one fits what was wanted."""

    passages: tuple[str, ...]
    why: tuple[Step, ...]
    score: float


KgpEdge = Literal["keyword", "similar", "mention", "tagme", "title", "next", "page"]


class KgpOptions(Options):
    """Options of knowledge-graph prompting."""

    guide: Literal["words", "encoder", "chat"] = Field(
        "words",
        description="what says where to go next: the question's words, the embedder of the collection, or a model "
        "(section 4 and appendix A.2: KGP w/o LM, KGP-MDR, KGP-T5 and KGP-LLaMA)",
    )
    edges: tuple[KgpEdge, ...] = Field(
        ("title", "mention"),
        min_length=1,
        description="what is walked over (section 3): keyword, similar, mention, tagme (the mentions that it found), "
        "title, next, page",
    )
    seeds: int = Field(10, ge=1, description="passages that the paths begin with (appendix A.2)")
    branch: int = Field(3, ge=1, description="passages that a path goes on to (appendix A.2)")
    budget: int = Field(30, ge=1, description="K: passages in all (appendix A.2)")
    cap: int | None = Field(
        None,
        ge=1,
        description="passages that a keyword or name may have to tie them (density: section 3); unset: 50 where a "
        "model guides, who finds its way among many, else 5",
    )
    keywords: int = Field(100, ge=1, le=100, description="best keywords of a passage that tie it (section 3.1)")
    similar: int = Field(100, ge=1, le=100, description="nearest passages, of those kept, that are tied (section 3.2)")
    rho: float = Field(0.0, ge=0, le=1, description="how certain TAGME must be of a name that ties (section 3.3)")


class Kgp(Retriever):
    """Paths of passages from those that share words with the question; ranked as they were visited."""

    name = "kgp"
    summary = (
        "breadth-first from bm25's passages over shared keywords and names, guided by words, the embedder or a "
        "language model; KGP"
    )
    paper = "KGP, section 4 and algorithm 1"
    uses = ("words", "vectors", "names")
    options = KgpOptions
    settings: KgpOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Raises ConfigurationError when a language model is to guide and none is configured."""
        super().__init__(*on, **options)
        if self.settings.guide == "chat" and self.context.tasks is None:
            raise no_model()

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; at most `budget` passages, in the order of the walk. Raises ModelError."""
        s = self.settings
        seeds = Bm25(self.context).rank(query, s.seeds)
        paths = [Path((x.id,), x.why, x.score) for x in seeds][: s.budget]
        visited = {x.id: x for x in seeds[: s.budget]}
        terms = question_terms(self.context, query.text) if s.guide == "words" else []
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
            allowed = self.context.reader.passing([x.id for x in found], query.filter)
            found = [x for x in found if x.id in allowed]
        return [Scored(x.id, 1 / rank, x.why) for rank, x in enumerate(found[:n], 1)]

    def _level(
        self, query: Query, paths: Sequence[Path], seen: list[str], terms: list[dict[str, object]]
    ) -> list[Path]:
        """Every path with each of the passages that it goes on to, the best first (Algorithm 1, lines 5 to 10)."""
        s = self.settings
        wanted = self._wanted(query, paths)
        rows = self.context.row(
            "expand/kgp",
            embedding=self.context.reader.collection.embedding,
            paths=[{"id": p.passages[-1], "vector": v} for p, v in zip(paths, wanted, strict=True)],
            seen=seen,
            edges=list(s.edges),
            terms=terms,
            cap=s.cap or (BRIDGE_CAP if s.guide == "chat" else _FEW),
            keywords=s.keywords,
            similar=s.similar,
            rho=s.rho,
            keep=s.branch,
        )["found"]
        found: dict[int, list[dict[str, Any]]] = {row["path"]: row["best"] for row in rows}
        names = self.context.reader.captions([], [row["id"] for rows in found.values() for row in rows])
        return [
            Path((*path.passages, row["id"]), (*path.why, *_steps(row, names)), row["score"])
            for number, path in enumerate(paths)
            for row in found.get(number, [])
        ]

    def _wanted(self, query: Query, paths: Sequence[Path]) -> list[list[float]]:
        """For each path the vector of what is wanted next; empty where words decide."""
        guide = self.settings.guide
        if guide == "words":
            return [[] for _ in paths]
        texts = self.context.reader.passages(sorted({id for path in paths for id in path.passages}))
        told = [[texts[id] for id in path.passages if id in texts] for path in paths]
        if guide == "encoder":
            wanted = [so_far(query.text, [(p.title, p.text) for p in path]) for path in told]
        else:
            wanted = self._imagined(query, told)
        return embed_questions(self.context.embedder, wanted).tolist()  # type: ignore[no-any-return]

    def _imagined(self, query: Query, told: Sequence[Sequence[Passage]]) -> list[str]:
        """The evidence that the language model would like to see next, for each path."""
        assert self.context.tasks is not None
        tasks = self.context.tasks.with_listener(query.listener)

        def imagine(number: int) -> str:
            evidence = framed(harmless("\n\n".join(_text(p) for p in told[number])[:_LETTERS]))
            return tasks.text("evidence", prompt="next-evidence", question=query.text, evidence=evidence)

        replies = dict(in_parallel(imagine, range(len(told)), len(told) or 1))
        failed = [reply for reply in replies.values() if isinstance(reply, Exception)]
        if failed:
            raise failed[0]
        wanted = [str(replies[number]) for number in range(len(told))]
        if query.listener is not None:
            for text in wanted:
                query.listener(Imagined(text=text))
        return wanted


_OVER = OVER | {"tagme": OVER["mention"], "page": (("CONTAINS", "Page"), "CONTAINS")}


def _steps(row: dict[str, str], names: dict[str, str]) -> tuple[Step, ...]:
    """From one passage to the next: over what ties them."""
    kind, name, score = row["kind"], names.get(row["id"], ""), float(row["score"])
    if kind not in _OVER:  # similar or next
        return (follow(kind.upper(), "Passage", name, score),)
    out, last = _OVER[kind]
    return follow(*out, row["name"]), follow(last, "Passage", name, score)


def _text(passage: Passage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text
