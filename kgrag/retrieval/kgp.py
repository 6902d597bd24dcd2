"""KGP: knowledge-graph prompting, a breadth-first walk in which a guide chooses the passages to visit next.

KGP, section 4 and Algorithm 1. Seeds come from the words of the question. Each path of passages expands to the
neighbours most similar to the next query: the question itself (KGP w/o LM), a vector of the question and the path from
an encoder trained to predict the next supporting fact (KGP-MDR), or the evidence that a language model imagines
(KGP-T5, KGP-LLaMA). All open paths expand at once.

By default distinct passages are visited until there are `budget` of them. The setup of the paper's appendix A.2.3 is
`kgp(tfidf, hops=2, similarity=tfidf, edges=(tagme,), cap=0)`: each of ten seeds expands to three passages, which may
have been visited before, and the reader sees these 30 paths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from kgrag.models.chat import no_model
from kgrag.models.embed import Vectors, embed_questions
from kgrag.models.generator import load_generator
from kgrag.models.parallel import in_parallel
from kgrag.models.prompted import framed, harmless
from kgrag.models.prompts import load_prompt
from kgrag.retrieval.base import BRIDGE_CAP, Layer, Query, Retriever, Scored
from kgrag.retrieval.context import Searchable
from kgrag.retrieval.gnn_ret import OVER
from kgrag.retrieval.linking import question_terms
from kgrag.retrieval.mdr import so_far
from kgrag.retrieval.tfidf import cosines
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Options
from kgrag.text.tokens import LETTERS_A_TOKEN, embedding_text
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import HypotheticalPassage
from kgrag.values.results import Passage, Step

_LETTERS = 4000  # characters of a path's text given to a guide
_FEW = 5  # passages per name if words or an encoder guide, since more passages mislead more often
_ALL = 2**31 - 1  # no cap


@dataclass(frozen=True, slots=True)
class Path:
    """A path of passages with its trail; `score` is the similarity of the last passage to the wanted evidence."""

    passages: tuple[str, ...]
    why: tuple[Step, ...]
    score: float


KgpEdge = Literal["keyword", "word", "named", "similar", "mention", "tagme", "title", "document", "next", "page"]


class KgpOptions(Options):
    """Options of knowledge-graph prompting."""

    guide: Literal["words", "encoder", "chat", "generator"] = Field(
        "words",
        description="what says where to go next: the question's words, an encoder, a language model, or a generator "
        "of `kgrag lab train next-evidence` (section 4 and appendix A.2: KGP w/o LM, KGP-MDR, KGP-T5 and KGP-LLaMA)",
    )
    encoder: str | None = Field(None, description="the embedder that guides: sbert:FOLDER; unset: the collection's")
    generator: str | None = Field(
        None, description="the generator, loaded in this process: a folder or a name on the hub (extra: train)"
    )
    similarity: Literal["tfidf", "vector"] | None = Field(
        None,
        description="similarity of a passage to the next wanted one: by TF-IDF (sections 4 and 5.5) or vectors of the "
        "collection; unset: vectors, and for words the question's share that the passage holds",
    )
    edges: tuple[KgpEdge, ...] = Field(
        ("title", "mention"),
        min_length=1,
        max_length=10,
        description="edges of the walk (section 3): keyword (of both), word (a keyword of any that both hold: for "
        "small collections), named (what a language model found), similar, mention, tagme (the mentions that it "
        "found), title, document (the same one), next, page; the paper's keywords and titles: (word, title, document) "
        "or (keyword, title, document); as GNN-Ret runs it: (next, named)",
    )
    seeds: int | None = Field(
        10,
        ge=1,
        le=1_000,
        description="passages that the paths begin with (appendix A.2); none: budget / branch (figure 6b)",
    )
    branch: int = Field(3, ge=1, le=100, description="passages that a path goes on to (appendix A.2)")
    hops: int | None = Field(
        None,
        le=20,
        ge=1,
        description="passages of a path; all paths are followed to their end, and may meet (appendix A.2.3: 2); "
        "unset: distinct passages are visited until the budget is spent",
    )
    budget: int = Field(30, ge=1, le=1_000, description="K: passages in all (appendix A.2)")
    tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="of these no more than hold so many tokens, of 4 characters (GNN-Ret)"
    )
    cap: int | None = Field(
        None,
        le=10_000,
        ge=0,
        description="passages that a keyword or name may have to tie them (density: section 3), 0: any number; unset: "
        "50 where a model guides, who finds its way among many, else 5",
    )
    keywords: int = Field(100, ge=1, le=100, description="best keywords of a passage that tie it (section 3.1)")
    similar: int = Field(100, ge=1, le=100, description="nearest passages, of those kept, that are tied (section 3.2)")
    rho: float = Field(0.0, ge=0, le=1, description="how certain TAGME must be of a name that ties (section 3.3)")


class Kgp(Retriever):
    """Paths of passages from the hits of another retriever, ranked in the order of the visits, or path by path.

    Source: KGP, section 4 and algorithm 1.

    Example:
        >>> ranking = Kgp(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "kgp"
    summary = (
        "breadth-first from bm25's passages over shared keywords and names, guided by words, an encoder or a "
        "language model; KGP"
    )
    paper = "KGP, section 4 and algorithm 1"
    uses = ("words", "vectors", "names")
    options = KgpOptions
    over: ClassVar[tuple[str, ...]] = ("bm25",)
    settings: KgpOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Make the retriever.

        Raises:
            ConfigurationError: the guide is a language model, but none is configured or named.
        """
        super().__init__(*on, **options)
        if self.settings.guide == "chat" and self.context.llm is None:
            raise no_model()
        if self.settings.guide == "generator" and self.settings.generator is None:
            raise ConfigurationError(
                "kgp(guide=generator) names no generator.", "Name a folder: kgp(guide=generator, generator='FOLDER')."
            )

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        layers: dict[str, Layer] = {"tagme": "TAGME", "named": "keywords"}
        return frozenset(layers[edge] for edge in self.settings.edges if edge in layers)

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are 1 / rank. Raises ModelError."""
        s = self.settings
        seeds = self.parts[0].rank(query, s.seeds or max(1, s.budget // s.branch))
        starts = [Path((x.id,), x.why, x.score) for x in seeds]
        ranking = self._walk(query, starts[: s.budget]) if s.hops is None else self._follow(query, starts, s.hops)
        if query.filter:
            allowed = self.context.reader.matching_filter([x.id for x in ranking], query.filter)
            ranking = [x for x in ranking if x.id in allowed]
            paths = ([id for id in path if id in allowed] for path in query.memory.get(self) or ())
            query.memory[self] = [path for path in paths if path]
        return [Scored(x.id, 1 / rank, x.why) for rank, x in enumerate(ranking[:n], 1)]

    def evidence(self, query: Query) -> Sequence[Sequence[str]] | None:
        """Return the paths if their length is set; each is one item for the reader (listing 4)."""
        paths: list[Sequence[str]] | None = query.memory.get(self) if self.settings.hops is not None else None
        return paths

    def _walk(self, query: Query, paths: list[Path]) -> list[Scored]:
        """Return distinct passages in order of visit, at most `budget`, and within `tokens`."""
        budget = self.settings.budget
        visited = {path.passages[0]: Scored(path.passages[0], path.score, path.why) for path in paths}
        most, letters = (self.settings.tokens or _ALL) * LETTERS_A_TOKEN, self._letters(list(visited))
        while paths and len(visited) < budget and letters < most:
            longer = []
            for path in (more for grown in self._level(query, paths, list(visited)) for more in grown):
                end = path.passages[-1]
                if end not in visited and len(visited) < budget:
                    visited[end] = Scored(end, path.score, path.why)
                    longer.append(path)
            paths = longer
            letters += self._letters([path.passages[-1] for path in longer])
        return list(visited.values())

    def _letters(self, ids: Sequence[str]) -> int:
        """Return the number of characters of passages, or 0 if tokens are not limited."""
        if self.settings.tokens is None:
            return 0
        return sum(len(p.title) + len(p.text) for p in self.context.reader.passages(ids).values())

    def _follow(self, query: Query, paths: list[Path], hops: int) -> list[Scored]:
        """Return the passages of all paths of length `hops`, path by path; dead ends stay shorter."""
        paths_by_end = {path.passages[-1]: path for path in reversed(paths)}
        for _ in range(hops - 1 if paths else 0):
            grown = self._level(query, paths, [])
            paths = [longer for path, more in zip(paths, grown, strict=True) for longer in (more or [path])]
            for path in paths:
                paths_by_end.setdefault(path.passages[-1], path)
        query.memory[self] = [path.passages for path in paths]
        ids = dict.fromkeys(id for path in paths for id in path.passages)
        return [Scored(id, paths_by_end[id].score, paths_by_end[id].why) for id in ids]

    def _level(self, query: Query, paths: Sequence[Path], seen: list[str]) -> list[list[Path]]:
        """Return each path with each of its next passages, the best first (Algorithm 1, lines 5 to 10)."""
        s = self.settings
        by_vector = s.encoder is None and (s.similarity == "vector" or (s.similarity is None and s.guide != "words"))
        here = s.encoder is not None or s.similarity == "tfidf"  # compared here, else by the server
        read = self._passages_of(paths) if s.guide != "words" else [[] for _ in paths]
        queries = self._next_queries(query, read)
        vectors = self._vectors(queries).tolist() if by_vector else [[] for _ in paths]
        cap = _ALL if s.cap == 0 else s.cap or (BRIDGE_CAP if s.guide in ("chat", "generator") else _FEW)
        rows = self.context.row(
            "retrieve/kgp",
            embedding=self.context.reader.collection.embedding,
            paths=[{"passages": list(p.passages), "vector": v} for p, v in zip(paths, vectors, strict=True)],
            seen=seen,
            edges=list(s.edges),
            terms=[] if here or by_vector else question_terms(self.context, query.text),
            cap=cap,
            keywords=s.keywords,
            similar=s.similar,
            rho=s.rho,
            keep=_ALL if here else s.branch,
        )["rows"]
        candidates: list[list[dict[str, Any]]] = [[] for _ in paths]
        for row in rows:
            candidates[row["path"]] = row["best"]
        if here:
            candidates = self._best(queries, candidates)
        names = self.context.reader.captions([], [row["id"] for best in candidates for row in best])
        return [
            [Path((*path.passages, row["id"]), (*path.why, *_steps(row, names)), row["score"]) for row in best]
            for path, best in zip(paths, candidates, strict=True)
        ]

    def _best(
        self, queries: Sequence[str], neighbours: Sequence[Sequence[dict[str, Any]]]
    ) -> list[list[dict[str, Any]]]:
        """Return the neighbours of each path that are most like the next query (equation 1)."""
        ids = list(dict.fromkeys(row["id"] for rows in neighbours for row in rows))
        scores = self._alike(queries, ids)
        scored = [
            [{**row, "score": by_id.get(row["id"], 0.0)} for row in rows]
            for rows, by_id in zip(neighbours, scores, strict=True)
        ]
        return [sorted(rows, key=lambda r: (-r["score"], r["id"]))[: self.settings.branch] for rows in scored]

    def _alike(self, queries: Sequence[str], ids: list[str]) -> list[Mapping[str, float]]:
        """Return the similarity of passages to each text, by TF-IDF or by the vectors of another encoder."""
        if self.settings.encoder is None or self.settings.similarity == "tfidf":
            distinct = list(dict.fromkeys(queries))
            by_text = dict(zip(distinct, cosines(self.context, distinct, ids), strict=True))
            return [{id: match.cosine for id, match in by_text[text].items()} for text in queries]
        passages = self.context.reader.passages(ids)
        embedder = self.context.other_embedder(self.settings.encoder)
        vectors = embedder.embed([embedding_text(p.title, p.section, p.text) for p in passages.values()])
        scores = (1 + self._vectors(queries) @ vectors.T) / 2
        return [dict(zip(passages, row.tolist(), strict=True)) for row in scores]

    def _vectors(self, queries: Sequence[str]) -> Vectors:
        """Return the vectors of the next queries [texts, d].

        An imagined passage is encoded as a passage, other queries as questions.
        """
        name, guide = self.settings.encoder, self.settings.guide
        embedder = self.context.embedder if name is None else self.context.other_embedder(name)
        return embedder.embed(queries) if guide in ("chat", "generator") else embed_questions(embedder, queries)

    def _passages_of(self, paths: Sequence[Path]) -> list[list[Passage]]:
        """Return the passages of each path."""
        texts = self.context.reader.passages(sorted({id for path in paths for id in path.passages}))
        return [[texts[id] for id in path.passages if id in texts] for path in paths]

    def _next_queries(self, query: Query, read: Sequence[Sequence[Passage]]) -> list[str]:
        """Return the next query of each path (g of equation 1)."""
        if self.settings.guide == "words":
            return [query.text for _ in read]
        if self.settings.guide == "encoder":
            return [so_far(query.text, [(p.title, p.text) for p in path]) for path in read]
        texts = [[f"{p.title}: {p.text}" if p.title else p.text for p in path] for path in read]
        evidence = ["\n\n".join(path)[:_LETTERS] for path in texts]
        queries = (
            self._generated(query, evidence) if self.settings.guide == "generator" else self._imagined(query, evidence)
        )
        if query.listener is not None:
            for text in queries:
                query.listener(HypotheticalPassage(text=text))
        return queries

    def _generated(self, query: Query, evidence: Sequence[str]) -> list[str]:
        """Return the next fact that the generator writes for each path, or the question if it writes nothing."""
        assert self.settings.generator is not None
        prompt = self.context.llm.prompt("next-evidence") if self.context.llm else load_prompt("next-evidence")
        prompts = [prompt.messages(question=query.wording, evidence=text) for text in evidence]
        return [text.strip() or query.text for text in load_generator(self.settings.generator).write(prompts)]

    def _imagined(self, query: Query, evidence: Sequence[str]) -> list[str]:
        """Return for each path the next evidence that the language model imagines. Raises ModelError."""
        assert self.context.llm is not None
        llm = self.context.llm.with_listener(query.listener)

        def imagine(number: int) -> str:
            text = framed(harmless(evidence[number]))
            return llm.text("evidence", prompt="next-evidence", question=query.wording, evidence=text)

        replies = dict(in_parallel(imagine, range(len(evidence)), len(evidence) or 1))
        failed = [reply for reply in replies.values() if isinstance(reply, Exception)]
        if failed:
            raise failed[0]
        return [str(replies[number]) for number in range(len(evidence))]


_OVER = OVER | {
    "tagme": OVER["mention"],
    "document": (("HAS_PASSAGE", "Document"), "HAS_PASSAGE"),
    "page": (("CONTAINS", "Page"), "CONTAINS"),
}


def _steps(row: Mapping[str, Any], names: Mapping[str, str]) -> tuple[Step, ...]:
    """Return the steps from one passage to the next over their connection."""
    kind, name, score = row["kind"], names.get(row["id"], ""), float(row["score"])
    if kind == "word":
        return Step("holds", "Keyword", row["name"]), Step("held by", "Passage", name, score)
    if kind not in _OVER:  # similar or next
        return (follow(kind.upper(), "Passage", name, score),)
    out, last = _OVER[kind]
    return follow(*out, row["name"]), follow(last, "Passage", name, score)
