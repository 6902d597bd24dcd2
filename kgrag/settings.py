"""Every setting of kgrag, typed, from the environment (KGRAG_*), and .env and kgrag.toml in the working directory.

Nested groups use two underscores: KGRAG_INDEXING__PASSAGE_TOKENS=300.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError, TomlConfigSettingsSource
from pydantic_settings import PydanticBaseSettingsSource as Source


class ServeOptions(BaseModel):
    """The address of the server, and the limits of one request, of one key and of all together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="address to listen on; others than loopback need keys (`kgrag keys`)")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0: any that is free")
    hosts: tuple[str, ...] = Field((), description="its names, as JSON; empty: loopback, with keys this machine's, too")
    secure_cookie: bool = Field(False, description="set the cookie of the web application only over HTTPS (by a proxy)")
    concurrency: int = Field(16, ge=1, le=512, description="searches and the like at once, and answers besides")
    statements: int = Field(4, ge=1, le=512, description="statements of Cypher at once")
    waiting: int = Field(64, ge=0, le=10_000, description="requests of each kind that wait; further ones get 503")
    connections: int = Field(1000, ge=1, description="connections at once; further ones get 503")
    rate: float = Field(600.0, gt=0, description="requests of one key in a minute; further ones get 429")
    deadline: float = Field(120.0, gt=0, description="seconds that a request may take")
    budget: float | None = Field(None, ge=0, description="cost of language models that a request may have")
    upload_mb: int = Field(256, ge=1, description="size of a request that uploads files")
    held_mb: int = Field(20_480, ge=1, description="size of all uploads that are held; further ones get 507")
    job_workers: int = Field(1, ge=1, le=16, description="jobs that run side by side")
    job_memory_mb: int = Field(4096, ge=256, description="memory that the process of a job may need")
    job_seconds: float = Field(86_400.0, gt=0, description="seconds that a job may take")
    watch: dict[str, Path] = Field({}, description="collection -> folder that is kept in step with it, as JSON")
    answers: int = Field(5000, ge=1, description="questions that the pages keep, with their answers; older ones go")


class ChatSettings(BaseModel):
    """The language models, behind any OpenAI-compatible server. OPENAI_API_KEY and OPENAI_BASE_URL serve, too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(None, description="the model that is asked; unset: none is")
    models: dict[str, str] = Field(default_factory=dict, description="task -> another model for it")
    base_url: str | None = Field(
        None, description="address of the server, such as http://localhost:11434/v1; Azure's with its ?api-version"
    )
    api_key: SecretStr | None = Field(None, description="its key; a local server needs none")
    extra_headers: dict[str, SecretStr] = Field({}, description="sent with every request, such as Azure's api-key")
    extra_body: dict[str, Any] = Field({}, description="the server's own parameters: num_ctx, reasoning_effort")
    temperature: Annotated[float | None, BeforeValidator(lambda value: None if value == "none" else value)] = Field(
        0.0, ge=0, le=2, description="none for models that take none (section 6.2)"
    )
    max_tokens: int = Field(4096, ge=1, description="tokens that a reply may have")
    task_tokens: dict[str, int] = Field(
        {"evidence": 256, "grade": 128, "reason": 512, "rewrite": 256, "structure": 256, "think": 256},
        description="task -> fewer tokens for it; a reply that they cut is asked for again with max_tokens",
    )
    limit: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="what the server calls this limit; the other is tried where it is refused"
    )
    json_mode: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema",
        description="how a reply in JSON is asked for; where one way is refused, the next; none: by the prompt",
    )
    timeout: float = Field(120.0, gt=0, description="seconds in which a reply must be there as a whole")
    retries: int = Field(6, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    concurrency: int = Field(8, ge=1, le=256, description="calls under way at once")
    requests_per_minute: int | None = Field(None, ge=1, description="requests in a minute, retries too; unset: any")
    tokens_per_minute: int | None = Field(None, ge=1, description="tokens read and written in a minute; unset: any")
    prices: dict[str, tuple[float, float]] = Field({}, description="model -> price of a million tokens read, written")
    budget: float | None = Field(None, ge=0, description="what a run may cost, in the currency of the prices")
    batch_price: float = Field(0.5, ge=0, le=1, description="share of a price that a call in a batch costs (OpenAI's)")
    cache: bool = Field(True, description="keep replies on disk, and never pay for the same call twice")
    prompts: Path | None = Field(None, description="folder with prompts of your own, in place of those of that name")


class _ServerSettings(BaseModel):
    """The credentials for a model's server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: SecretStr | None = Field(None, description="its key; a local server needs none")
    extra_headers: dict[str, SecretStr] = Field(default_factory=dict, description="sent with every request")


class EmbeddingSettings(_ServerSettings):
    """The server of the embedder openai:MODEL, if it differs from OPENAI_BASE_URL and OPENAI_API_KEY."""

    base_url: str | None = Field(None, description="address of the server, such as http://localhost:11434/v1")
    timeout: float = Field(120.0, gt=0, description="seconds to wait for the vectors of a batch")
    retries: int = Field(5, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    batch: int = Field(256, ge=1, description="texts of one call")


class RerankerSettings(_ServerSettings):
    """The server that `rerank` has passages read by: vLLM, llama.cpp, Text Embeddings Inference, Jina, Cohere."""

    base_url: str | None = Field(
        None,
        description="address of the server, such as http://localhost:8000/v1, without /v1 for Text Embeddings "
        "Inference; unset: a cross-encoder in this process",
    )
    model: str | None = Field(None, description="the model that is asked; a server of one model needs none")
    timeout: float = Field(60.0, gt=0, description="seconds to wait for the scores of a batch")
    retries: int = Field(3, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    batch: int = Field(100, ge=1, description="passages of one call; fewer where the server takes no more")


class TagmeSettings(BaseModel):
    """The TAGME server that `kgrag enrich tag` asks for Wikipedia entities."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: SecretStr | None = Field(None, description="token of D4Science; a server of one's own may need none")
    endpoint: str = Field(
        "https://tagme.d4science.org/tagme/tag",
        description="address of the server; titles: none, the titles of the collection's own documents are linked to",
    )
    threshold: float = Field(0.1, ge=0, le=1, description="rho from which an entity counts (KGP, section 3.3)")
    lang: str = Field("en", min_length=2, description="language of the texts, and of the Wikipedia")
    timeout: float = Field(30.0, gt=0, description="seconds to wait for a reply")
    retries: int = Field(6, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    cache: bool = Field(True, description="keep replies on disk, and never ask twice for the same text")


__all__ = [
    "BRIDGE_CAP", "DENSITY_SAMPLE", "ChatSettings", "EmbeddingSettings", "EngineSettings", "GatewaySettings",
    "IndexingSettings", "LoadingSettings", "LocalSettings", "Profile", "RerankerSettings", "ServeOptions", "Settings",
    "TagmeSettings",
]  # fmt: skip


IN_FILE = ("retrieval", "agents")
"""Settings that are tables of kgrag.toml alone: options of retrievers and strategies by their names."""

_FILE = "kgrag.toml"

BRIDGE_CAP = 50
"""Passages that a name may have to serve as a bridge; part of the graph (a collection's name density)."""

DENSITY_SAMPLE = 100_000
"""Passages that the density is counted on, about: of a larger collection, those whose ids come first."""


class EngineSettings(BaseModel):
    """The engine of an ingest: it cuts, reads and embeds documents, and looks for names and words in passages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Literal["here", "processes", "ray"] = Field(
        "here", description="here: the process itself; processes: several; ray: a cluster of machines"
    )
    workers: int = Field(0, ge=0, le=10_000, description="how many of them; 0: one for each core, 8 processes at most")
    address: str | None = Field(None, description="of ray: HOST:PORT of its head node, or auto; unset: started here")
    gpus: float = Field(0.0, ge=0, description="of ray: GPUs of each worker that embeds, such as 0.5; 0: a CPU")


class GatewaySettings(BaseModel):
    """Limits of Cypher statements that are not kgrag's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float = Field(10.0, gt=0, le=3600, description="after this long the server ends the statement")
    rows: int = Field(1000, ge=1, description="rows returned; further rows are not fetched")
    megabytes: float = Field(16.0, gt=0, description="approximate size of the returned rows")
    hops: int = Field(15, ge=1, description="relationships of a guest's path of variable length, shortest paths apart")


class LocalSettings(BaseModel):
    """The Neo4j that kgrag runs on this machine when no other is named."""

    model_config = ConfigDict(extra="forbid")

    version: Literal["5.26", "2026"] | None = Field(
        None, description="line of Neo4j that a new home gets (unset: 5.26); `kgrag up --version` upgrades an old one"
    )
    bolt_port: int = Field(7687, description="preferred Bolt port; the next free one is taken if it is in use")
    http_port: int = Field(7474, description="preferred HTTP port of Neo4j Browser")
    heap: str = Field("1g", description="maximum heap of the server (-Xmx)")
    page_cache: str = Field("512m", description="page cache of the server")
    conf: dict[str, str] = Field({}, description='more of neo4j.conf, as JSON: {"db.checkpoint": "PERIODIC"}')
    maven_repository: str | None = Field(None, description="another Maven repository, for example a company mirror")
    start_timeout: float = Field(120.0, gt=0, description="seconds to wait for the server to answer")
    archive: bool = Field(
        True,
        description="keep Neo4j's classes as Java has them in memory, and a prepared database, in KGRAG_CACHE, "
        "for quicker starts (150 MB, made in the background after a start)",
    )
    guide: bool = Field(True, description="Neo4j Browser opens a guide to the demo whenever it connects")


class LoadingSettings(BaseModel):
    """How PDF and office files are read: by processes of their own, which are ended when they take too much."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    processes: int = Field(0, ge=0, le=64, description="that read one PDF together; 0: one for each core, 8 at most")
    memory_mb: int = Field(1536, ge=256, description="memory that each of them may take (where the system keeps to it)")
    follow_links: bool = Field(False, description="also follow links in a folder that lead out of it")
    exclude: tuple[str, ...] = Field((), description="files and folders to pass over, by patterns as in .gitignore")
    gitignore: bool = Field(True, description="pass over what .gitignore files of a folder name")
    prune_limit: float = Field(0.5, ge=0, le=1, description="share of documents that an ingest may prune unasked")
    encoding: str = Field("", description="encoding of texts that are not UTF-8, such as cp1250; empty: found out")
    readers: tuple[str, ...] = Field((), description="other readers, the first that takes a file: docling, markitdown")
    page_seconds: float = Field(30.0, gt=0, description="seconds that reading a page may take")
    file_seconds: float = Field(900.0, gt=0, description="seconds that reading a file may take")
    recognition: Literal["auto", "on", "off"] = Field(
        "auto",
        description="whether text in pictures is recognised, with the ocr extra; auto: on pages without text, and in "
        "picture files that are named; on: also in those of folders",
    )
    describe_figures: bool = Field(False, description="have a model that sees (task figure) describe figures")


class IndexingSettings(BaseModel):
    """Settings that shape a collection's graph; the collection keeps them from its first ingest on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: Literal["passage", "sentence"] = Field(
        "passage", description="what a passage is: sentences as many as fit, or each alone (KGP, appendix A.1.1)"
    )
    whole_tokens: int = Field(512, ge=1, description="a document of at most this many tokens stays one passage")
    passage_tokens: int = Field(256, ge=8, description="longer documents are cut into passages of at most this many")
    language: str | None = Field(
        None,
        pattern="^[a-z]{2,3}$",
        description="whose words, names and sentences texts are read with (ISO 639-1: en, de, zh; xx: several); "
        "unset: found out from the first documents",
    )
    pipeline: str | None = Field(None, description="trained spaCy pipeline that finds names, such as en_core_web_sm")
    keywords: int = Field(10, ge=0, le=100, description="TF-IDF keywords kept per passage (KGP, section 3)")
    similar: int = Field(5, ge=0, le=100, description="nearest neighbours kept per passage (KGP, KNN-ST)")
    synonyms: int = Field(10, ge=0, le=100, description="most similar names kept per entity")
    synonymy: float = Field(0.8, ge=0, le=1, description="cosine from which two names are similar (HippoRAG, 2.2)")


class Settings(BaseSettings):
    """All settings. Keyword arguments win over the environment, then .env, then kgrag.toml.

    Raises:
        SettingsError: a variable sets an option of a retriever or strategy, or kgrag.toml has an invalid key.

    Example:
        >>> Settings(embedder="wordllama").embedder
        'wordllama'
    """

    model_config = SettingsConfigDict(
        env_prefix="KGRAG_",
        env_nested_delimiter="__",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        toml_file=_FILE,
        extra="ignore",
    )

    neo4j_uri: str | None = Field(None, description="bolt://, neo4j:// or neo4j+s:// address; unset: the local server")
    neo4j_user: str = Field("neo4j", description="user of the server at that address")
    neo4j_password: SecretStr | None = Field(None, description="the user's password")
    neo4j_database: str = Field("neo4j", description="database of the server")
    neo4j_retry_seconds: float = Field(
        30.0, ge=0, le=3600, description="for which a transaction that Neo4j lost is tried again; 3 in `kgrag serve`"
    )
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("kgrag", appauthor=False)),
        description="where the local server keeps its data, password and logs",
    )
    cache: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("kgrag", appauthor=False)),
        description="where downloads are kept; safe to delete, shared by all servers of this user",
    )
    embedder: str = Field("wordllama", description="wordllama, minilm, onnx:MODEL, sbert:MODEL or openai:MODEL")
    passage_index: str = Field("neo4j", description="what bm25 and dense search: neo4j, lancedb, opensearch")
    opensearch_uri: SecretStr | None = Field(None, description="that OpenSearch: https://USER:PASSWORD@HOST:9200")
    max_file_mb: int = Field(64, ge=1, description="larger files are reported, not read (JSON Lines and CSV stream)")
    writers: int = Field(2, ge=1, le=16, description="transactions written side by side while ingesting")
    batch_passages: int = Field(512, ge=1, description="passages embedded and written per batch")
    bulk_part_mb: int = Field(1024, ge=1, description="size of the files that `kgrag ingest --bulk --files` writes")
    exact_neighbours_mb: int = Field(
        512,
        ge=1,
        description="neighbours are found exactly while a collection's vectors fit into this much memory, unless "
        "only a few of many thousands are new",
    )
    rankings: int = Field(0, ge=0, description="rankings kept until the database changes; kgrag serve, unset: 1000")
    old_vectors_seconds: float = Field(
        10.0,
        ge=0,
        description="seconds that old vectors stay after `kgrag db reembed`, and the indexes of a removed collection "
        "wait for another one: for searches that began before",
    )
    engine: EngineSettings = Field(default_factory=EngineSettings)
    local: LocalSettings = Field(default_factory=LocalSettings)
    loading: LoadingSettings = Field(default_factory=LoadingSettings)
    indexing: IndexingSettings = Field(default_factory=IndexingSettings)
    retrieval: dict[str, dict[str, Any]] = Field({}, description="options of retrievers, by their names")
    chat: ChatSettings = Field(default_factory=ChatSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    tagme: TagmeSettings = Field(default_factory=TagmeSettings)
    agents: dict[str, dict[str, Any]] = Field({}, description="options of strategies, by their names; of all: answer")
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    serve: ServeOptions = Field(default_factory=ServeOptions)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except UnicodeDecodeError as error:
            raise SettingsError(f".env is not UTF-8 ({error.reason}); PowerShell's > writes UTF-16") from error

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_: Source, **sources: Source
    ) -> tuple[Source, ...]:
        """Order the sources of values; the first one wins. See pydantic_settings.

        Args:
            settings_cls: the class.
            _: sources that pydantic_settings passes by position.
            sources: sources that it passes by name.

        Returns:
            The sources.

        Raises:
            SettingsError: a variable sets an option of a retriever or strategy.
        """
        variables = sources["env_settings"], sources["dotenv_settings"]
        for name in IN_FILE:
            if any(name in source() for source in variables):
                raise SettingsError(
                    f"KGRAG_{name.upper()}...: options of retrievers and strategies are no variables; "
                    f"write them where they are used, as in pathrank(cap=20), or in {_FILE} under [{name}]"
                )
        if Path(_FILE).is_dir():
            raise SettingsError(f"{_FILE} is a folder")
        try:
            file = TomlConfigSettingsSource(settings_cls)
        except ValueError as error:
            raise SettingsError(f"{_FILE}: {error}") from error
        if unknown := ", ".join(sorted(file().keys() - cls.model_fields.keys())):
            raise SettingsError(f"{_FILE} names {unknown}, which is no setting")
        return sources["init_settings"], *variables, file


class Profile(Protocol):
    """Settings that belong together, such as those of a paper. Your own settings win over them."""

    @property
    def system(self) -> str:
        """Its strategy over a retriever."""
        ...

    def apply(self, settings: Settings) -> Settings:
        """Return the settings with those of the profile where they were not set otherwise.

        Args:
            settings: your settings.

        Returns:
            Settings of both.
        """
        ...

    def about(self, settings: Settings) -> dict[str, Any]:
        """Return the description of the profile for JSON.

        Args:
            settings: the settings in force.

        Returns:
            The texts paper (its name), title, section, system and model; the lists differs, tables and figures; and
            settings, whose rows have the texts setting, paper, value and source.
        """
        ...
