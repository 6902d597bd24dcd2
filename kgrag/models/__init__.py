"""Models behind kgrag's own contracts: embedders, chat models, TAGME; and the prompts.

The embedders are here by their names: `from kgrag.models import Embedder`; each is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from kgrag.runtime.lazy import offered

if TYPE_CHECKING:
    from kgrag.models.embed import EMBEDDERS as EMBEDDERS
    from kgrag.models.embed import BiEncoder as BiEncoder
    from kgrag.models.embed import Embedder as Embedder
    from kgrag.models.embed import OpenAIEmbedder as OpenAIEmbedder
    from kgrag.models.embed import SentenceTransformerEmbedder as SentenceTransformerEmbedder
    from kgrag.models.embed import WordLlamaEmbedder as WordLlamaEmbedder
    from kgrag.models.embed import unit as unit
    from kgrag.models.onnx import OnnxEmbedder as OnnxEmbedder
else:
    __all__, __getattr__, __dir__ = offered(
        __name__,
        {
            "embed": "EMBEDDERS BiEncoder Embedder OpenAIEmbedder SentenceTransformerEmbedder WordLlamaEmbedder unit",
            "onnx": "OnnxEmbedder",
        },
    )
