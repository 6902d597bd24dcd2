"""Every setting of kgrag, typed, from the environment (KGRAG_*) and a .env file in the working directory.

Nested groups use two underscores: KGRAG_INDEXING__PASSAGE_TOKENS=300.
"""

from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr
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


class IndexingSettings(BaseModel):
    """What shapes a collection's graph; kept with the collection when it is made, and fixed from then on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    whole_tokens: int = Field(512, ge=1, description="a document of at most this many tokens stays one passage")
    passage_tokens: int = Field(256, ge=8, description="longer documents are cut into passages of at most this many")
    keywords: int = Field(10, ge=0, le=100, description="TF-IDF keywords kept per passage (KGP, section 3)")
    similar: int = Field(5, ge=0, le=100, description="nearest neighbours kept per passage (KGP, KNN-ST)")


BRIDGE_CAP = 50
"""Passages that a name may have to serve as a bridge; part of the graph (a collection's name density)."""


class PathRankSettings(BaseModel):
    """Constants of the PathRank recipe, one set for all collections."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k0: int = Field(30, ge=1, description="seeds from the vector index, and from the full-text index")
    width: tuple[int, ...] = Field((8, 8), description="K: passages expanded in each hop")
    cap: int = Field(BRIDGE_CAP, ge=1, description="passages that a name may have to serve as a bridge")
    emax: int = Field(20, ge=1, description="names that lead on from a passage")
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
    omega: float = Field(0.15, description="weight of log10 of the personalised PageRank")
    pagerank_passages: int = Field(200, ge=1, description="passages in the personalised PageRank")
    pagerank_seeds: int = Field(5, ge=1, description="passages that it is reset to")
    damping: float = Field(0.5, gt=0, lt=1, description="its damping")
    dens: float = Field(0.8, description="name density under which words count more and paths less")
    slack: float = Field(1.5, description="how much more and less")


class RetrievalSettings(BaseModel):
    """Constants of the retrievers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rrf: float = Field(60.0, gt=0, description="reciprocal rank fusion: 1 / (rrf + rank) (GEAR, section 3)")
    depth: int = Field(100, ge=1, description="how many passages each fused ranking contributes")
    over_fetch: int = Field(200, ge=1, description="vector index candidates that are scored again exactly")
    pathrank: PathRankSettings = Field(default_factory=PathRankSettings)


class Settings(BaseSettings):
    """All settings; `Settings()` reads the environment and .env, keyword arguments win over both."""

    model_config = SettingsConfigDict(
        env_prefix="KGRAG_", env_nested_delimiter="__", env_file=".env", env_file_encoding="utf-8", extra="ignore"
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
    indexing: IndexingSettings = Field(default_factory=IndexingSettings)
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
