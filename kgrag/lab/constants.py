"""The constants of training, which are options of `kgrag lab train`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Constants(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GnnRetTraining(_Constants):
    """Constants of the training of GNN-Ret (appendices A.1 and C)."""

    start: float = Field(0.1, ge=0, le=1, description="a of every layer to begin with.")
    margin: float = Field(0.01, ge=0, title="R", description="r: how much nearer than the others the gold should be.")
    competitors: int = Field(25, ge=1, title="O", description="Nearest passages that the gold should be ahead of.")
    nearest: Literal["integrated", "semantic"] = Field(
        "integrated",
        description="Which are nearest: after the layers, or by their own distance (the paper can be read both ways).",
    )
    rate: float = Field(1.0, gt=0, description="Learning rate.")
    tolerance: float = Field(0.001, gt=0, description="Derivative under which the training ends.")
    patience: int = Field(5, ge=1, description="How often in a row the loss may rise before the training ends.")
    iterations: int = Field(1000, ge=1, description="When the training ends in any case.")


class RgnnTraining(GnnRetTraining):
    """Constants of the training of RGNN-Ret (section 3.3 and appendices A.2 and C)."""

    start: float = Field(1.0, ge=0, le=1, description="a of every layer, and beta, to begin with.")
    competitors: int = Field(10, ge=1, title="O", description="Nearest passages that the gold should be ahead of.")
    labels: Literal["all", "own", "later"] = Field(
        "later", description="Gold of a step: all, its own, or its own and that of later ones (table 2)."
    )
    only: Literal["alphas", "beta"] | None = Field(None, description="Learn these alone; the rest stays 1 (table 2).")


class GfmTraining(_Constants):
    """Constants of the training of GFM-RAG (section 3.2; its official code fills the gaps)."""

    width: int = Field(512, ge=1, description="Length of an entity's vector.")
    layers: int = Field(6, ge=1, description="Layers of message passing.")
    epochs: int = Field(20, ge=1, description="Passes over the questions.")
    batch: int = Field(8, ge=1, description="Questions of a step.")
    rate: float = Field(5e-4, gt=0, description="Learning rate of AdamW.")
    alpha: float = Field(0.3, ge=0, le=1, description="Weight of the binary cross-entropy; the rest: ranking loss.")
    temperature: float = Field(0.2, ge=0, description="Others count by their relevance, divided by this; 0: all alike.")
    measured: int = Field(20, ge=1, description="Most relevant entities among which those of the gold are looked for.")


class NextFactTraining(_Constants):
    """Constants of the training of an encoder to predict the next supporting fact (KGP, appendix A.2.1)."""

    epochs: int = Field(3, ge=1, description="Passes over the pairs; the paper makes 50.")
    steps: int | None = Field(None, ge=1, description="Steps after which it ends, whatever the epochs.")
    batch: int = Field(128, ge=2, description="Pairs of a step, which are each other's negatives (128 to 512).")
    rate: float = Field(2e-5, gt=0, description="Learning rate.")
    warmup: int = Field(300, ge=0, description="Steps in which it rises to that; a tenth of all steps at most.")
    clip: float = Field(2.0, gt=0, description="Length at which gradients are cut.")
    tokens: int = Field(256, ge=8, description="Tokens of a text that are read (128, 256 or 350).")
    seeds: int = Field(10, ge=1, description="TF-IDF passages whose neighbours are measured (appendix A.2).")
    measured: int = Field(20_000, ge=1, description="Passages among which facts are looked for when it is measured.")


class NextEvidenceTraining(_Constants):
    """Constants of the fine-tuning of a generator of the next fact (KGP, appendix A.2.2)."""

    epochs: int = Field(3, ge=1, description="Passes over the rows.")
    steps: int | None = Field(None, ge=1, description="Steps after which it ends, whatever the epochs.")
    batch: int = Field(8, ge=1, description="Rows of a step.")
    rate: float = Field(2e-4, gt=0, description="Learning rate.")
    tokens: int = Field(1024, ge=16, description="Tokens of a row that are read; the end of a question's facts is cut.")
    full: bool = Field(False, description="Learn all weights, as T5 in the paper, in place of LoRA (LLaMA there).")
    rank: int = Field(8, ge=1, description="r of LoRA.")
    alpha: int = Field(16, ge=1, description="alpha of LoRA.")
    dropout: float = Field(0.05, ge=0, lt=1, description="Dropout of LoRA.")
