"""Every setting of kgrag, typed, from the environment (KGRAG_*) and a .env file in the working directory.

Nested groups use two underscores: KGRAG_INDEXING__PASSAGE_TOKENS=300.
"""

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class LocalSettings(BaseModel):
    """The Neo4j that kgrag runs on this machine when no other is named."""

    model_config = ConfigDict(extra="forbid")

    bolt_port: int = Field(7687, description="preferred Bolt port; the next free one is taken if it is in use")
    http_port: int = Field(7474, description="preferred HTTP port of Neo4j Browser")
    heap: str = Field("1g", description="maximum heap of the server (-Xmx)")
    page_cache: str = Field("512m", description="page cache of the server")
    maven_repository: str | None = Field(None, description="another Maven repository, for example a company mirror")
    start_timeout: float = Field(120.0, description="seconds to wait for the server to answer")


class LoadingSettings(BaseModel):
    """How PDF and office files are read: by processes of their own, which are ended when they take too much."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    processes: int = Field(0, ge=0, le=64, description="that read one PDF together; 0: one for each core, 8 at most")
    memory_mb: int = Field(1536, ge=256, description="memory that each of them may take (where the system keeps to it)")
    page_seconds: float = Field(30.0, gt=0, description="seconds that reading a page may take")
    file_seconds: float = Field(900.0, gt=0, description="seconds that reading a file may take")


class IndexingSettings(BaseModel):
    """What shapes a collection's graph; kept with the collection when it is made, and fixed from then on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    whole_tokens: int = Field(512, ge=1, description="a document of at most this many tokens stays one passage")
    passage_tokens: int = Field(256, ge=8, description="longer documents are cut into passages of at most this many")
    keywords: int = Field(10, ge=0, le=100, description="TF-IDF keywords kept per passage (KGP, section 3)")
    similar: int = Field(5, ge=0, le=100, description="nearest neighbours kept per passage (KGP, KNN-ST)")
    synonyms: int = Field(10, ge=0, le=100, description="most similar names kept per entity")
    synonymy: float = Field(
        0.8, ge=0, le=1, description="cosine from which two names are similar (HippoRAG, section 2.2; 2: section 3)"
    )


BRIDGE_CAP = 50
"""Passages that a name may have to serve as a bridge; part of the graph (a collection's name density)."""


class PathRankSettings(BaseModel):
    """Constants of the PathRank recipe, one set for all collections."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k0: int = Field(30, ge=1, description="seeds from the vector index, and from the full-text index")
    candidates: int = Field(120, ge=1, description="vector index candidates for these, scored again exactly")
    width: tuple[int, ...] = Field((8, 8), description="K: passages expanded in each hop")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages that a name may have to serve as a bridge")
    emax: int = Field(12, ge=1, description="names that lead on from a passage")
    keep: int = Field(60, ge=1, description="passages that one passage leads to")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")
    beta: float = Field(0.25, description="weight of shared words beside the cosine")
    lambda_title: float = Field(1.0, description="bonus of a passage whose title the question names")
    lambda_mention: float = Field(0.4, description="bonus of a passage that mentions a name without a title")
    gamma: float = Field(0.5, description="share of the source's score that goes on to the target")
    off: float = Field(0.6, description="cost of a hop")
    iota: float = Field(0.3, description="weight of a name's rarity")
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
    passage_weight: float = Field(0.05, ge=0, description="weight of the nearest of them")
    exact: bool = Field(False, description="walk over the whole collection, not what surrounds the seeds alone")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages or triples that an entity may have to lead on")
    titled: int = Field(5, ge=1, description="passages of a long document that its title reaches")
    most: int = Field(150, ge=0, description="passages that share names with the seeds' own, without triples")
    most_stated: int = Field(20, ge=0, description="the same where the nearest triples lead there")


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
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages that a keyword or name may have to tie them")


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
    hub_triples: int = Field(200, ge=1, description="the question's nearest triples, of which hubs give theirs")


class SyncGeSettings(BeamSettings):
    """Constants of SyncGE."""

    passages: int = Field(15, ge=1, description="base passages that the model reads (appendix B.2)")
    link: Literal["vector", "hybrid"] = Field(
        "vector", description="tripleLink: the most similar triple by vector, or by vector and words (section 4.1)"
    )


class NaiveGeSettings(BeamSettings):
    """Constants of NaiveGE."""

    passages: int = Field(15, ge=1, description="base passages whose triples begin the chains (appendix C)")


class GnnRetTraining(BaseModel):
    """Constants of the training of GNN-Ret (appendices A.1 and C)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: float = Field(0.1, ge=0, le=1, description="a of every layer to begin with")
    margin: float = Field(0.01, ge=0, description="r: how much nearer than the others the gold should be")
    competitors: int = Field(25, ge=1, description="O: nearest passages that the gold should be ahead of")
    rate: float = Field(1.0, gt=0, description="learning rate")
    tolerance: float = Field(0.001, gt=0, description="derivative under which the training ends")
    patience: int = Field(5, ge=1, description="how often in a row the loss may rise before the training ends")
    iterations: int = Field(1000, ge=1, description="when the training ends in any case")


class NextFactTraining(BaseModel):
    """Constants of the training of an encoder to predict the next supporting fact (KGP, appendix A.2.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: int = Field(3, ge=1, description="passes over the pairs; the paper makes 50")
    steps: int | None = Field(None, ge=1, description="steps after which it ends, whatever the epochs")
    batch: int = Field(128, ge=2, description="pairs of a step, which are each other's negatives (128 to 512)")
    rate: float = Field(2e-5, gt=0, description="learning rate")
    warmup: int = Field(300, ge=0, description="steps in which it rises to that; a tenth of all steps at most")
    clip: float = Field(2.0, gt=0, description="length at which gradients are cut")
    tokens: int = Field(256, ge=8, description="tokens of a text that are read (128, 256 or 350)")
    seeds: int = Field(10, ge=1, description="TF-IDF passages whose neighbours are measured (appendix A.2)")
    measured: int = Field(20_000, ge=1, description="passages among which facts are looked for when it is measured")


class NextEvidenceTraining(BaseModel):
    """Constants of the fine-tuning of a generator of the next fact by LoRA (KGP, appendix A.2.2)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: int = Field(3, ge=1, description="passes over the rows")
    steps: int | None = Field(None, ge=1, description="steps after which it ends, whatever the epochs")
    batch: int = Field(8, ge=1, description="rows of a step")
    rate: float = Field(2e-4, gt=0, description="learning rate")
    tokens: int = Field(1024, ge=16, description="tokens of a row that are read; the end of a question's facts is cut")
    rank: int = Field(8, ge=1, description="r of LoRA")
    alpha: int = Field(16, ge=1, description="alpha of LoRA")
    dropout: float = Field(0.05, ge=0, lt=1, description="dropout of LoRA")


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


class ChatSettings(BaseModel):
    """The language models, behind any OpenAI-compatible server. OPENAI_API_KEY and OPENAI_BASE_URL serve, too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(None, description="the model that is asked; unset: none is")
    models: dict[str, str] = Field(default_factory=dict, description="task -> another model for it")
    base_url: str | None = Field(None, description="address of the server, such as http://localhost:11434/v1")
    api_key: SecretStr | None = Field(None, description="its key; a local server needs none")
    temperature: Annotated[float | None, BeforeValidator(lambda value: None if value == "none" else value)] = Field(
        0.0, ge=0, le=2, description="none for models that take none (section 6.2)"
    )
    max_tokens: int = Field(4096, ge=1, description="tokens that a reply may have")
    limit: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="what the server calls this limit; newer OpenAI models take only the second"
    )
    json_mode: Literal["json_object", "none"] = Field(
        "json_object", description="how the server is told to answer with JSON; none: by the prompt alone"
    )
    timeout: float = Field(120.0, gt=0, description="seconds to wait for a reply")
    retries: int = Field(6, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    concurrency: int = Field(8, ge=1, le=256, description="calls under way at once")
    requests_per_minute: int | None = Field(None, ge=1, description="calls begun in a minute; unset: any number")
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="model -> price of a million tokens read, and written"
    )
    budget: float | None = Field(None, ge=0, description="what a run may cost, in the currency of the prices")
    cache: bool = Field(True, description="keep replies on disk, and never pay for the same call twice")
    prompts: Path | None = Field(None, description="folder with prompts of your own, in place of those of that name")


class TagmeSettings(BaseModel):
    """The TAGME server that `kgrag tag` asks for Wikipedia entities."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: SecretStr | None = Field(None, description="token of D4Science; a server of one's own may need none")
    endpoint: str = Field("https://tagme.d4science.org/tagme/tag", description="address of the server")
    threshold: float = Field(0.1, ge=0, le=1, description="rho from which an entity counts (KGP, section 3.3)")
    lang: str = Field("en", min_length=2, description="language of the texts, and of the Wikipedia")
    timeout: float = Field(30.0, gt=0, description="seconds to wait for a reply")
    retries: int = Field(6, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    cache: bool = Field(True, description="keep replies on disk, and never ask twice for the same text")


class GearSettings(BaseModel):
    """Constants of the GEAR agent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(4, ge=1, le=20, description="steps at most; 2 for questions of two hops (appendix B.1)")
    passages: int = Field(10, ge=1, description="base passages that the model reads in each step (appendix B.2)")
    gist: int = Field(15, ge=1, description="expanded passages that it reads into the memory from the second step on")
    link: int = Field(5, ge=1, description="passages that each fact of the gist memory is linked to (section 5.4)")


class IrcotSettings(BaseModel):
    """Constants of IRCoT."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(4, ge=1, le=20, description="sentences of reasoning at most (GEAR, appendix B.1)")
    passages: int = Field(10, ge=1, description="passages retrieved for each (GEAR, appendix B.2)")
    read: int = Field(15, ge=1, description="passages found so far that the model is shown at most")


class AnswerSettings(BaseModel):
    """Constants of answering."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence: int = Field(5, ge=1, description="best passages that the answer is read from (GEAR, Table 3)")
    words: int = Field(6, ge=1, description="length of a short answer (GEAR, appendix J.3)")
    structure: bool = Field(True, description="look up the pages, tables and sections that a question names (KGP)")


class AgentSettings(BaseModel):
    """Constants of the agents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gear: GearSettings = Field(default_factory=GearSettings)
    ircot: IrcotSettings = Field(default_factory=IrcotSettings)
    answer: AnswerSettings = Field(default_factory=AnswerSettings)


class Settings(BaseSettings):
    """All settings; `Settings()` reads the environment and .env, keyword arguments win over both."""

    model_config = SettingsConfigDict(
        env_prefix="KGRAG_",
        env_nested_delimiter="__",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
    )

    neo4j_uri: str | None = Field(None, description="bolt://, neo4j:// or neo4j+s:// address; unset: the local server")
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    neo4j_database: str = "neo4j"
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("kgrag", appauthor=False)),
        description="where the local server keeps its data, password and logs",
    )
    cache: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("kgrag", appauthor=False)),
        description="where downloads are kept; safe to delete, shared by all servers of this user",
    )
    embedder: str = Field("wordllama", description="wordllama, minilm, sbert:MODEL or openai:MODEL")
    max_file_mb: int = Field(64, ge=1, description="larger files are reported, not read (JSON Lines and CSV stream)")
    writers: int = Field(2, ge=1, le=16, description="transactions written side by side while ingesting")
    batch_passages: int = Field(512, ge=1, description="passages embedded and written per batch")
    exact_neighbours_mb: int = Field(
        512, ge=1, description="neighbours are found exactly while a collection's vectors fit into this much memory"
    )
    local: LocalSettings = Field(default_factory=LocalSettings)
    loading: LoadingSettings = Field(default_factory=LoadingSettings)
    indexing: IndexingSettings = Field(default_factory=IndexingSettings)
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
    chat: ChatSettings = Field(default_factory=ChatSettings)
    tagme: TagmeSettings = Field(default_factory=TagmeSettings)
    agents: AgentSettings = Field(default_factory=AgentSettings)
