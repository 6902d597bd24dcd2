"""Synthetic documents for measurements: seeded, fast, with name and triple frequencies by a power law."""

from collections.abc import Iterator, Sequence

import numpy as np

from kgrag.models.embed import Vectors, unit
from kgrag.values.documents import Document, Section, Triple

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u")]
_FIRST, _LAST = 2003, 4999  # primes: names are distinct up to ten million
_VOCABULARY = 50_000
_BLOCK = 1000
_PREDICATES = "built founded ruled visited designed married taught described discovered succeeded".split()


def word(number: int) -> str:
    """Return a pseudo-word; frequent ones are short."""
    text = ""
    number += len(_SYLLABLES)
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        text += _SYLLABLES[digit]
    return text


_FIRSTS = [word(i + 60_000).capitalize() for i in range(_FIRST)]
_LASTS = [word(i + 400_000).capitalize() for i in range(_LAST)]
_WORDS = [word(i) for i in range(_VOCABULARY)]


def name(number: int) -> str:
    """Return the name of entity `number`."""
    return f"{_FIRSTS[number % _FIRST]} {_LASTS[number % _LAST]}"


class PowerLaw:
    """Numbers from 0 to n - 1, the k-th (from 1) with a probability proportional to 1 / (k + shift)."""

    def __init__(self, n: int, shift: int = 0) -> None:
        shares = np.cumsum(1 / np.arange(1 + shift, n + 1 + shift))
        self._shares = shares / shares[-1]

    def draw(self, chance: np.random.Generator, *shape: int) -> np.ndarray:
        """Return random numbers in an array of this shape."""
        return np.minimum(np.searchsorted(self._shares, chance.random(shape)), len(self._shares) - 1)


def documents(
    number: int, triples: int, names: int, words: int = 12, seed: int = 7, start: int = 0
) -> Iterator[Document]:
    """Yield documents `start` (in thousands) to `number`, one passage each, with `triples` facts in its text.

    The i-th is about entity i and mentions others: of a million ends of triples, the commonest entity has about 70,000.
    """
    things, vocabulary = PowerLaw(names), PowerLaw(_VOCABULARY, shift=1)
    facts = max(triples, 1)
    for block in range(start, number, _BLOCK):
        chance = np.random.default_rng([seed, block])
        ends = things.draw(chance, _BLOCK, facts, 2).tolist()
        verbs = chance.integers(len(_PREDICATES), size=(_BLOCK, facts)).tolist()
        fill = vocabulary.draw(chance, _BLOCK, words).tolist()
        for i in range(min(_BLOCK, number - block)):
            title = name(block + i)
            stated = [
                Triple(name(s) if j else title, _PREDICATES[verb], name(o))
                for j, ((s, o), verb) in enumerate(zip(ends[i], verbs[i], strict=True))
            ]
            text = f"{title} is a {' '.join([_WORDS[w] for w in fill[i]])}. " + " ".join([f"{t.text}." for t in stated])
            yield Document(f"s{block + i}", (Section(text),), title, "synthetic", {}, tuple(stated) if triples else ())


def questions(number: int, names: int, seed: int = 11) -> list[str]:
    """Return questions with two names each: one drawn like those in the texts, one at random."""
    chance = np.random.default_rng(seed)
    common, other = PowerLaw(names).draw(chance, number), chance.integers(names, size=number)
    verbs = chance.integers(len(_PREDICATES), size=number)
    return [
        f"Who {_PREDICATES[v]} the place that {name(int(c))} and {name(int(o))} knew?"
        for c, o, v in zip(common, other, verbs, strict=True)
    ]


class HashingEmbedder:
    """An embedder that sums a random vector for each word, in negligible time."""

    name = "hashing"

    def __init__(self, dimension: int = 256, seed: int = 3) -> None:
        self.dimension = dimension
        self._table = np.random.default_rng(seed).standard_normal((1 << 14, dimension), dtype=np.float32)
        self._places: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See kgrag.models.embed.Embedder."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        split = [text.lower().split() or [" "] for text in texts]
        places = self._places
        flat = np.array([places.setdefault(w, _place(w)) for ws in split for w in ws])
        starts = np.cumsum([0, *(len(words) for words in split[:-1])])
        return unit(np.add.reduceat(self._table[flat], starts, axis=0))


def _place(text: str) -> int:
    """Return the same number for the same word in every process."""
    return int.from_bytes(text.encode()[-7:], "little") * 0x9E3779B97F4A7C15 % (1 << 64) >> 50
