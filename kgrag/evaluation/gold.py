"""Where in a ranking the gold of a question stands: by the document that was found, or by the text that was."""

from collections.abc import Mapping, Sequence

from kgrag.evaluation.datasets import GoldText
from kgrag.text import tokens
from kgrag.types import Ranking

WORDS = 4  # of a run; fewer would be shared by chance (of the, in the year)
SHARE = 0.5


def distinct_documents(ranking: Ranking) -> tuple[str, ...]:
    """The keys of the documents whose passages were found; each once, where its first passage stands."""
    return tuple(dict.fromkeys(hit.passage.document for hit in ranking))


def text_ranks(
    ranking: Ranking, gold: Sequence[str], texts: Mapping[str, GoldText], share: float = SHARE
) -> tuple[int | None, ...]:
    """The rank of each gold whose text is only part of a document: that of the passage that completes it.

    A gold text is taken as its distinct runs of WORDS words (of all its words, if it has fewer), words in normal form.
    It is found at the first passage at which the passages of its document so far, taken together, hold `share` of these
    runs. Two passages of which each holds nearly half of it thus find it at the second; passages of the same document
    that share only common words with it do not find it. Ranks count passages, so two golds may have the same rank.
    """
    missing = {key: _runs(texts[key].text) for key in gold if key in texts}
    allowed = {key: len(runs) * (1 - share) for key, runs in missing.items()}
    found: dict[str, int] = {}
    for rank, hit in enumerate(ranking, 1):
        here = [k for k in missing if k not in found and texts[k].document == hit.passage.document]
        for key in here:
            missing[key] -= _runs(hit.passage.text, _length(texts[key].text))
            if len(missing[key]) <= allowed[key]:
                found[key] = rank
    return tuple(found.get(key) for key in gold)


def _length(text: str) -> int:
    return min(WORDS, len(tokens(text)))


def _runs(text: str, length: int | None = None) -> set[tuple[str, ...]]:
    words = [t.norm for t in tokens(text)]
    n = length or min(WORDS, len(words))
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)} if n else set()
