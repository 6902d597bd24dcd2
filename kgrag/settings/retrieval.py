"""The constants of the retrievers."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

BRIDGE_CAP = 50
"""Passages that a name may have to serve as a bridge; part of the graph (a collection's name density)."""


class PathRankSettings(BaseModel):
    """Constants of the PathRank recipe, one set for all collections."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k0: int = Field(30, ge=1, description="seeds from the vector index, and from the full-text index")
    candidates: int = Field(120, ge=1, description="vector index candidates for these, scored again exactly")
    width: tuple[int, ...] = Field((10, 10), description="K: passages expanded in each hop")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages that a name may have to serve as a bridge")
    emax: int = Field(10, ge=1, description="names that lead on from a passage")
    keep: int = Field(60, ge=1, description="passages that one passage leads to")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")
    beta: float = Field(0.25, description="weight of shared words beside the cosine")
    lambda_title: float = Field(1.0, description="bonus of a passage whose title the question names")
    lambda_mention: float = Field(0.4, description="bonus of a passage that mentions a name without a title")
    gamma: float = Field(0.5, description="share of the source's score that goes on to the target")
    off: float = Field(0.6, description="cost of a hop")
    iota: float = Field(0.4, description="weight of a name's rarity")
    pi: float = Field(0.1, description="weight of a question word near the name")
    tau: float = Field(0.3, description="weight of being the name's title")
    nu: float = Field(0.1, description="weight of the name being part of the title")
    omega: float = Field(0.15, description="weight of log10 of the personalised PageRank")
    pagerank_passages: int = Field(120, ge=1, description="passages in the personalised PageRank")
    pagerank_seeds: int = Field(5, ge=1, description="passages that it is reset to")
    damping: float = Field(0.5, gt=0, lt=1, description="its damping")
    dens: float = Field(0.8, description="name density under which words count more and paths less")
    slack: float = Field(1.5, description="how much more and less")


class PprSettings(BaseModel):
    """Constants of personalised PageRank (HippoRAG 2, section 3.3 and appendix)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    damping: float = Field(0.5, gt=0, lt=1, description="share of the walk that goes on at each step")
    triples: int = Field(5, ge=0, description="nearest triples whose entities the walk restarts at")
    link: float = Field(2.0, ge=0, description="weight of an entity that the question names; the best triple's have 1")
    passages: int = Field(30, ge=1, description="nearest passages that the walk restarts at")
    candidates: int = Field(100, ge=1, description="vector index candidates for both, scored again exactly")
    passage_weight: float = Field(0.05, ge=0, description="weight of the nearest of them")
    exact: bool = Field(False, description="walk over the whole collection, not what surrounds the seeds alone")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages or triples that an entity may have to lead on")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")
    most: int = Field(150, ge=0, description="passages that share names with the seeds' own, without triples")
    most_stated: int = Field(0, ge=0, description="the same where the nearest triples lead there")
    near: int = Field(50, ge=1, description="entities that lead to passages: seeds, and what a few triples tie to them")
    surrounding: int = Field(100, ge=1, description="passages that these lead to: those that the walk reaches most")


GraphEdge = Literal["next", "keyword", "mention", "title"]


KgpEdge = Literal["keyword", "similar", "mention", "tagme", "title", "next", "page"]


class KgpSettings(BaseModel):
    """Constants of knowledge-graph prompting."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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


class TfIdfSettings(BaseModel):
    """Constants of TF-IDF."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: int = Field(100, ge=1, description="passages of the full-text index that are ranked by cosine")


class KnnSettings(BaseModel):
    """Constants of KNN with fuzzy search."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: int = Field(100, ge=1, description="nearest passages, and best by words, that are compared letterwise")
    compare: Literal["whole", "part"] = Field(
        "whole",
        description="with the whole passage by Levenshtein distance (appendix A.2.3), or with the part most alike",
    )


class MdrSettings(BaseModel):
    """Constants of multi-hop dense retrieval (KGP, appendix A.2.3)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hops: int = Field(2, ge=1, le=8, description="passages of a chain")
    width: int = Field(15, ge=1, description="passages that chains begin with")
    branch: int = Field(3, ge=1, description="passages that a chain goes on to")
    beams: int = Field(45, ge=1, description="chains kept at each hop")
    candidates: int = Field(50, ge=1, description="vector index candidates for these, scored again exactly")


class ColbertSettings(BaseModel):
    """Constants of late interaction."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        "colbert-ir/colbertv2.0", description="late-interaction model: a name on the hub or a folder (GEAR, section 5)"
    )
    depth: int = Field(50, ge=1, description="passages of the other retriever that are ranked anew")


class GnnRetSettings(BaseModel):
    """Constants of GNN-Ret."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alphas: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(
        (0.5, 0.5),
        min_length=1,
        description="a: share of its own distance that a passage keeps in each layer (section 3.2, appendix F)",
    )
    k: int = Field(5, ge=1, description="K: passages that send in each layer (section 3.2 and Table 1: 5 or 10)")
    edges: tuple[GraphEdge, ...] = Field(
        ("next", "mention", "title"), description="what ties passages (section 3.1): next, keyword, mention, title"
    )
    keyword_cap: int = Field(2, ge=1, description="passages that a keyword may have to tie them")
    mention_cap: int = Field(2, ge=1, description="passages that may mention a name to be tied by it")
    title_cap: int = Field(50, ge=1, description="documents that a name may be the title of to tie them")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")


class BeamSettings(BaseModel):
    """Constants of the diverse triple beam search (GEAR, section 4.2 and appendix C)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    beams: int = Field(10, ge=1, description="b: chains kept at each step (appendix C)")
    length: int = Field(2, ge=1, le=8, description="l: triples of a chain (appendix C)")
    neighbours: int = Field(100, ge=1, le=500, description="triples that a chain tries next, at most (appendix C)")
    diverse: bool = Field(True, description="whether a beam's lesser children count less; false: standard beam search")
    gamma: float | None = Field(None, gt=0, description="of the n-th child exp(-min(n, gamma) / gamma); none: 2 beams")
    exact: bool = Field(False, description="embed each chain's text, instead of the mean of its triples' vectors")
    hub: int = Field(100, ge=0, description="an entity of more triples is a hub: it gives only near ones")
    hub_triples: int = Field(50, ge=1, description="the question's nearest triples, of which hubs give theirs")


class SyncGeSettings(BeamSettings):
    """Constants of SyncGE."""

    passages: int = Field(15, ge=1, description="base passages that the model reads (appendix B.2)")
    link: Literal["vector", "hybrid"] = Field(
        "vector", description="tripleLink: the most similar triple by vector, or by vector and words (section 4.1)"
    )


class NaiveGeSettings(BeamSettings):
    """Constants of NaiveGE."""

    passages: int = Field(15, ge=1, description="base passages whose triples begin the chains (appendix C)")


class RetrievalSettings(BaseModel):
    """Constants of the retrievers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rrf: float = Field(60.0, gt=0, description="reciprocal rank fusion: 1 / (rrf + rank) (GEAR, section 3)")
    depth: int = Field(100, ge=1, description="how many passages each fused ranking contributes")
    over_fetch: int = Field(200, ge=1, description="vector index candidates that are scored again exactly")
    pathrank: PathRankSettings = Field(default_factory=PathRankSettings)
    naive_ge: NaiveGeSettings = Field(default_factory=NaiveGeSettings)
    sync_ge: SyncGeSettings = Field(default_factory=SyncGeSettings)
    kgp: KgpSettings = Field(default_factory=KgpSettings)
    tfidf: TfIdfSettings = Field(default_factory=TfIdfSettings)
    knn: KnnSettings = Field(default_factory=KnnSettings)
    mdr: MdrSettings = Field(default_factory=MdrSettings)
    colbert: ColbertSettings = Field(default_factory=ColbertSettings)
    gnn_ret: GnnRetSettings = Field(default_factory=GnnRetSettings)
    ppr: PprSettings = Field(default_factory=PprSettings)
