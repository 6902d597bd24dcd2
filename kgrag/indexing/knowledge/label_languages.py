"""Languages of labels: which come next when there is none in the language that is wanted, as Wikidata shows them."""

from collections.abc import Iterable, Sequence

_FALLBACKS = {
    "zh": (
        "zh-hans",
        "zh-cn",
        "zh-sg",
        "zh-my",
        "zh-hant",
        "zh-tw",
        "zh-hk",
        "zh-mo",
    ),
    "zh-hans": (
        "zh-cn",
        "zh",
        "zh-sg",
        "zh-my",
    ),
    "zh-cn": (
        "zh-hans",
        "zh",
        "zh-sg",
        "zh-my",
    ),
    "zh-hant": (
        "zh-tw",
        "zh-hk",
        "zh-mo",
        "zh",
    ),
    "zh-tw": (
        "zh-hant",
        "zh-hk",
        "zh-mo",
        "zh",
    ),
    "zh-hk": (
        "zh-hant",
        "zh-mo",
        "zh-tw",
        "zh",
    ),
    "en": (
        "en-us",
        "en-gb",
        "en-ca",
    ),
    "pt": ("pt-br",),
    "pt-br": ("pt",),
    "no": (
        "nb",
        "nn",
    ),
    "nb": (
        "no",
        "nn",
    ),
    "nn": (
        "no",
        "nb",
    ),
    "sr": (
        "sr-ec",
        "sr-cyrl",
        "sr-el",
        "sr-latn",
    ),
    "sh": (
        "sh-latn",
        "sh-cyrl",
    ),
    "be-tarask": ("be",),
    "be": ("be-tarask",),
    "ku": (
        "ku-latn",
        "ku-arab",
    ),
    "kk": (
        "kk-cyrl",
        "kk-latn",
        "kk-arab",
    ),
    "tg": (
        "tg-cyrl",
        "tg-latn",
    ),
    "tt": (
        "tt-cyrl",
        "tt-latn",
    ),
    "crh": (
        "crh-latn",
        "crh-cyrl",
    ),
    "gsw": (
        "als",
        "de-ch",
        "de",
    ),
    "de-at": ("de",),
    "de-ch": ("de",),
    "yue": (
        "zh-yue",
        "zh-hk",
        "zh-hant",
        "zh",
    ),
}
"""As MediaWiki's messages have them, without those that are another language altogether."""
_STEP = 100  # ranks between two languages that are wanted
_VARIANT = 50  # the rank of what is of the same language, and not in its chain


def language_rank(tag: str, wanted: Sequence[str]) -> int | None:
    """How near the language of a label is to those that are wanted, 0 the nearest; None: it is another language."""
    tag = tag.lower()
    for place, language in enumerate(wanted):
        chain = (language.lower(), *_FALLBACKS.get(language.lower(), ()))
        if tag in chain:
            return place * _STEP + chain.index(tag)
        if base(tag) == base(chain[0]):
            return place * _STEP + _VARIANT
    return None


def nearest(tags: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Those of languages that are wanted, the nearest first, then what stands for all languages."""
    ranks = {tag: rank for tag in tags if (rank := language_rank(tag, wanted)) is not None}
    return [*sorted(ranks, key=lambda tag: (ranks[tag], tag)), "mul"]


def base(language: str) -> str:
    """A language without its script and country: zh of zh-hans."""
    return language.lower().partition("-")[0]
