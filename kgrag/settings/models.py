"""Language models and other services that are asked over the network."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


class ChatSettings(BaseModel):
    """The language models, behind any OpenAI-compatible server. OPENAI_API_KEY and OPENAI_BASE_URL serve, too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(None, description="the model that is asked; unset: none is")
    models: dict[str, str] = Field(default_factory=dict, description="task -> another model for it")
    base_url: str | None = Field(
        None, description="address of the server, such as http://localhost:11434/v1; Azure's with its ?api-version"
    )
    api_key: SecretStr | None = Field(None, description="its key; a local server needs none")
    extra_headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="sent with every request, such as Azure's api-key"
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="parameters of the server's own, such as reasoning_effort or num_ctx"
    )
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
    max_facts: int = Field(100, ge=1, description="facts that are taken from one reply; what is beyond is left out")
    timeout: float = Field(120.0, gt=0, description="seconds in which a reply must be there as a whole")
    retries: int = Field(6, ge=0, description="how often a call that failed is tried again, waiting longer each time")
    concurrency: int = Field(8, ge=1, le=256, description="calls under way at once")
    requests_per_minute: int | None = Field(
        None, ge=1, description="requests of this process in a minute, retries included; unset: any number"
    )
    tokens_per_minute: int | None = Field(
        None, ge=1, description="tokens read and written in a minute, replies counted at their longest while under way"
    )
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="model -> price of a million tokens read, and written"
    )
    budget: float | None = Field(None, ge=0, description="what a run may cost, in the currency of the prices")
    batch_price: float = Field(0.5, ge=0, le=1, description="share of a price that a call in a batch costs (OpenAI's)")
    batch_seconds: float = Field(30.0, gt=0, description="seconds between two questions how far a batch is")
    cache: bool = Field(True, description="keep replies on disk, and never pay for the same call twice")
    prompts: Path | None = Field(None, description="folder with prompts of your own, in place of those of that name")


class _ServerSettings(BaseModel):
    """What says who asks a server of a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: SecretStr | None = Field(None, description="its key; a local server needs none")
    extra_headers: dict[str, SecretStr] = Field(default_factory=dict, description="sent with every request")


class EmbeddingSettings(_ServerSettings):
    """The server of the embedder openai:MODEL, where it is not that of OPENAI_BASE_URL and OPENAI_API_KEY."""

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
