"""Keywords of a passage: its top TF-IDF terms (KGP, section 3).

The idf counts in powers of two: floor(log2(df)). So a passage's keywords follow from its text and a few small numbers,
and adding documents changes them only where a word's df, or the number of passages, passes a power of two.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kgrag.text import is_content, stems, tokens


@dataclass(frozen=True, slots=True)
class Terms:
    """The content words of a passage: stem -> how often, and stem -> its shortest form as written (lower case)."""

    counts: Mapping[str, int]
    surfaces: Mapping[str, str]


def terms(text: str) -> Terms:
    """The content words of a text; numbers are none."""
    words = [t.norm for t in tokens(text) if is_content(t.norm) and not t.norm.isdigit()]
    surfaces: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for word, stem in zip(words, stems(words), strict=True):
        counts[stem] += 1
        known = surfaces.get(stem)
        if known is None or (len(word), word) < (len(known), known):
            surfaces[stem] = word
    return Terms(counts, surfaces)


def top_terms(
    found: Terms, df_class: Callable[[str], int | None], corpus_class: int, n: int
) -> list[tuple[str, float]]:
    """The n stems of highest TF-IDF that at least two passages share, with their weights; ties by stem.

    `df_class(stem)` and `corpus_class` are floor(log2(df)) and floor(log2(number of passages)).
    """
    weighed = []
    for stem, count in found.counts.items():
        df = df_class(stem)
        if df is not None and df > 0:
            weight = (1 + math.log(count)) * (1 + math.log(2) * max(0, corpus_class - df))
            weighed.append((stem, round(weight, 4)))
    weighed.sort(key=lambda entry: (-entry[1], entry[0]))
    return weighed[:n]
