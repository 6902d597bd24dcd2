"""Language models and other services that are asked over the network."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


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
