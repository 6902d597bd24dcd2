"""Settings of `kgrag serve`."""

from pydantic import BaseModel, ConfigDict, Field


class ServeOptions(BaseModel):
    """Where the server listens, and what one request, one key and all of them together may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="address to listen on; others than loopback need keys (`kgrag keys`)")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0: any that is free")
    hosts: tuple[str, ...] = Field(
        (),
        description="its names, as JSON; empty: loopback, with keys addresses and this machine's name, too",
    )
    secure_cookie: bool = Field(False, description="set the cookie of the web application only over HTTPS (by a proxy)")
    concurrency: int = Field(16, ge=1, le=512, description="searches and the like at once, and answers besides")
    statements: int = Field(4, ge=1, le=512, description="statements of Cypher at once")
    waiting: int = Field(64, ge=0, le=10_000, description="requests of each kind that wait; further ones get 503")
    connections: int = Field(1000, ge=1, description="connections at once; further ones get 503")
    rate: float = Field(600.0, gt=0, description="requests of one key in a minute; further ones get 429")
    deadline: float = Field(120.0, gt=0, description="seconds that a request may take")
    budget: float | None = Field(None, ge=0, description="cost of language models that a request may have")
    body_kb: int = Field(1024, ge=1, description="size of a request, uploads apart")
    upload_mb: int = Field(256, ge=1, description="size of a request that uploads files")
    upload_files: int = Field(1000, ge=1, le=1000, description="files, or texts, of such a request: of one job")
    held_mb: int = Field(20_480, ge=1, description="size of all uploads that are held; further ones get 507")
    body_seconds: float = Field(20.0, gt=0, description="seconds in which each part of a request has to arrive")
    job_workers: int = Field(1, ge=1, le=16, description="jobs that run side by side")
    job_memory_mb: int = Field(4096, ge=256, description="memory that the process of a job may need")
    job_seconds: float = Field(86_400.0, gt=0, description="seconds that a job may take")
    answers: int = Field(5000, ge=1, description="questions that the pages keep, with their answers; older ones go")
