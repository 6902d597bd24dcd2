"""How well an answer agrees with the known ones: exact match and F1, both 0 to 1, of the words that remain.

Source: Rajpurkar et al., SQuAD (2016), section 6.1; an answer is measured against the known one that is most like it.
Structure match: KGP, section 5.1.3 (Struct-EM).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from string import punctuation

_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalised(text: str) -> str:
    """Lower case, without punctuation (that of any script), the articles a, an, the, and superfluous white space."""
    lowered = unicodedata.normalize("NFC", text).lower()
    plain = "".join(c for c in lowered if c not in punctuation and unicodedata.category(c)[0] != "P")
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(text: str, known: Sequence[str]) -> float:
    """1 if the answer is one of the known ones, else 0; no answer is none of them. Raises ValueError without any."""
    said = normalised(text)
    return float(bool(said) and said in {normalised(answer) for answer in _some(known)})


def f1(text: str, known: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of an answer's words, each as often as it stands there, at the best.

    Raises ValueError without a known answer.
    """
    said = Counter(normalised(text).split())
    return max(_f1(said, Counter(normalised(answer).split())) for answer in _some(known))


def structure_match(found: Sequence[str], wanted: Sequence[str]) -> float:
    """1 if the text of each page, table or section that is wanted was found, else 0. Raises ValueError without any.

    Texts are compared as answers are, so that the marks of Markdown make no difference.
    """
    return float({normalised(text) for text in _some(wanted)} <= {normalised(text) for text in found})


def _f1(said: Counter[str], known: Counter[str]) -> float:
    shared = (said & known).total()
    return 2 * shared / (said.total() + known.total()) if shared else 0.0


def _some(known: Sequence[str]) -> Sequence[str]:
    if not known:
        raise ValueError("no known answer")
    return known
