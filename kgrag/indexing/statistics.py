"""Statistics of words and names, kept as counts in the graph, and the keywords and the density derived from them.

The transaction that takes off the mark of a passage adds its counts, and the transaction that removes the passage
subtracts them. The counts depend on its title, headings and text alone.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Transaction
from kgrag.indexing.named_entities import named_entities
from kgrag.indexing.stage import Row, StageContext
from kgrag.settings import BRIDGE_CAP, DENSITY_SAMPLE
from kgrag.text.languages import ENGLISH, Language, keyword_noise
from kgrag.text.letters import Memo, is_number, word_lists
from kgrag.text.names import common_nouns
from kgrag.text.tokenised import TokenisedPassage, tokenised
from kgrag.text.tokens import Token, content_stems, folded_name, is_content
from kgrag.values.identity import entity_id, keyword_id, word_id

# The density of names: the share of passages that mention two names or more that can serve as bridges.
#
# A large collection is sampled, so that the time does not grow with its size. Ids are hashes, so the first ones are a
# random sample that does not depend on the order of the documents.


def record_density(work: StageContext, sample: int = DENSITY_SAMPLE) -> None:
    """Count the density of a collection and keep it there."""
    bound = sample_bound(work.passages, sample)
    below = None if bound is None else f"{bound:016x}"
    work.graph.run("write/density", collection=work.name, cap=BRIDGE_CAP, below=below)


def sample_bound(passages: int, sample: int = DENSITY_SAMPLE) -> int | None:
    """Return the bound below which the first 64 bits of an id are in the sample; None: all passages are."""
    return None if passages <= sample else (sample << 64) // passages


# Keywords of a passage: its top TF-IDF terms (KGP, section 3).
#
# The idf uses floor(log2(df)). So new documents change the keywords of a passage only when the df of a word, or the
# number of passages, passes a power of two.


_PASSAGES = 1000  # passages a transaction: the server writes one batch while the next is computed


# In English a term is a noun or a name. Its neighbours decide, so no parser is needed.
_LISTS = word_lists("kgrag.indexing")
_AFTER_NOUNS = _LISTS["after_nouns"]
_VERBAL = re.compile(r"\w{2,}(?<!e)ed|\w{2,}(?<!mi|mb|pp)ly")  # but "reed", "bed", "family", "assembly", "supply"
_BEFORE_VERBS = _LISTS["before_verbs"]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a passage in their order: how often each stem stands, and how it is written."""

    counts: Mapping[str, int]
    surfaces: Mapping[str, str]


def terms(passage: TokenisedPassage) -> Terms:
    """Return the content words of a passage that may be keywords, without numbers and months."""
    language, of_title = passage.language, len(passage.title)
    stem_of, tokens = _keyword_stems(language), [*passage.title, *passage.text]
    spellings: Counter[tuple[str, str]] = Counter()
    counts: Counter[str] = Counter()
    for i, (token, word) in enumerate(zip(tokens, passage.words, strict=True)):
        if (stem := stem_of[word]) is None:
            continue
        counts[stem] += 1
        if i < of_title:
            spellings[stem, token.raw] += 1
        elif language is not ENGLISH or _is_nominal(tokens, i):
            spelling = token.raw.lower() if token.starts else token.raw
            spellings[stem, spelling] += not token.starts  # else only if it stands nowhere else
    surfaces = {stem: "" for stem, _ in spellings}
    surfaces |= dict(sorted(spellings, key=lambda spelt: (spellings[spelt], -len(spelt[1]), spelt[1])))
    return Terms({stem: counts[stem] for stem in surfaces}, surfaces)


@cache
def _keyword_stems(language: Language) -> Memo[str, str | None]:
    """Return the stem of a word that may be a keyword; None for others."""
    noise = keyword_noise(language)
    return Memo(
        lambda word: (
            language.stem[word] if is_content(word, language) and not is_number(word) and word not in noise else None
        )
    )


def _is_nominal(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a word of an English text is a name or a noun."""
    token = tokens[place]
    if token.raw[0].isupper() and not token.starts:
        return True
    before = tokens[place - 1] if place and not token.starts else None
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    behind_name = before is not None and before.raw[0].isupper() and not before.starts
    if _VERBAL.fullmatch(token.norm) or behind_name or (before and before.norm in _BEFORE_VERBS):
        return False
    return after is None or not after.joined or after.starts or after.norm in _AFTER_NOUNS or is_number(after.norm)


def _terms(language: Language, batch: tuple[list[str], list[Row]]) -> dict[str, Terms]:
    """Return the content words of the passages of a batch."""
    return {row["id"]: terms(tokenised(row, language)) for row in batch[1]}


def top_terms(terms: Terms, df_classes: Mapping[str, int], corpus_class: int, n: int) -> list[tuple[str, float]]:
    """Return the n stems of highest TF-IDF that at least two passages share, with their weights; ties by place.

    `df_classes` and `corpus_class` are floor(log2(df)) by stem and floor(log2(number of passages)).
    """
    weighed = []
    for place, (stem, count) in enumerate(terms.counts.items()):
        df = df_classes.get(stem, 0)
        if df > 0:
            weighed.append((-_weight(count, max(0, corpus_class - df)), place, stem))
    weighed.sort()
    return [(stem, -weight) for weight, _, stem in weighed[:n]]


@lru_cache(maxsize=1 << 14)
def _weight(count: int, rarity: int) -> float:
    """Return the TF-IDF weight for a term frequency and a rarity (log2 of passages per passage with the word)."""
    return round((1 + math.log(count)) * (1 + math.log(2) * rarity), 4)


def spread_words(work: StageContext) -> int:
    """Mark the passages whose keywords may change, and return floor(log2(number of passages))."""
    passages = work.passages
    corpus_class = int(math.log2(passages)) if passages else 0
    if work.graph.run("stages/corpus_class", collection=work.name)[0]["class"] != corpus_class:
        work.graph.run("stages/due_all_passages", collection=work.name, stage="keywords")

    work.spread("Word", "spread", work.word_phrases, "keywords")
    work.graph.run("write/corpus_class", collection=work.name, **{"class": corpus_class})
    return corpus_class


def link_keywords(work: StageContext, corpus_class: int) -> None:
    """Write the keywords of the pending passages, and count the passages of each keyword."""
    due = work.due("Passage", "keywords")
    read, compute = partial(work.rows, "look_up/texts"), partial(_terms, work.collection.language)
    for ids, by_passage in work.computed(due, _PASSAGES, "keywords", read, compute):
        words = sorted({stem for counts in by_passage.values() for stem in counts.counts})
        ids_of_words = [word_id(work.name, stem) for stem in words]
        frequencies = work.graph.run("stages/word_frequencies", ids=ids_of_words)[0]["classes"]
        classes: dict[str, int] = dict(zip(words, frequencies, strict=True))
        names: dict[str, str] = {}
        best: dict[str, list[tuple[str, float]]] = {}
        for passage, counts in by_passage.items():
            best[passage] = top_terms(counts, classes, corpus_class, work.collection.indexing.keywords)
            names |= {stem: counts.surfaces[stem] for stem, _ in best[passage] if stem not in names}
        key = {stem: keyword_id(work.name, stem) for stem in names}
        keywords = [{"id": key[stem], "stem": stem, "name": name} for stem, name in sorted(names.items())]
        rows = [
            {"id": p, "keywords": [{"id": key[s], "weight": w, "text": by_passage[p].surfaces[s]} for s, w in terms]}
            for p, terms in best.items()
        ]
        parameters = {"collection": work.name, "keywords": keywords, "rows": rows}

        def write(tx: Transaction, parameters: dict[str, Any] = parameters) -> None:
            touched = {row["id"] for row in parameters["keywords"]}
            touched.update(tx.run("write/keywords", **parameters)[0]["before"])
            tx.run("write/settle_keywords", ids=sorted(touched))

        work.commit("Passage", "keywords", ids, write)


_BATCH = 3000
_COUNTS = ("n", "upper", "lower")
Counted = tuple[list[Row], list[Row]]
"""Rows of words, and rows of capitalised phrases."""


def count_statistics(work: StageContext) -> None:
    """Count words and capitalised phrases of new passages, and mark the passages of words that change their case."""
    due, collection = work.due("Passage", "words"), work.collection
    compute = partial(_counted, work.name, collection.indexing.pipeline, collection.language)
    for ids, (words, phrases) in work.computed(due, _BATCH, "words", partial(work.rows, "look_up/texts"), compute):

        def count(tx: Transaction, words: list[Row] = words, phrases: list[Row] = phrases) -> None:
            write_statistics(tx, work.collection, words, phrases)

        work.commit("Passage", "words", ids, count)
    work.spread("Word", "case", work.word_phrases, "mentions")


def _counted(collection: str, pipeline: str | None, language: Language, batch: tuple[list[str], list[Row]]) -> Counted:
    """Return the counts of the passages of a batch."""
    return statistics(collection, (tokenised(row, language) for row in batch[1]), 1, pipeline, language)


def write_statistics(tx: Transaction, collection: Collection, words: list[Row], phrases: list[Row]) -> None:
    """Add counts of words and names within a transaction."""
    tx.run("write/count_words", rows=words, collection=collection.name)
    tx.run("write/count_phrases", rows=phrases, collection=collection.name, labels=[collection.label("Entity")])


def statistics(
    collection: str,
    passages: Iterable[TokenisedPassage],
    sign: int = 1,
    pipeline: str | None = None,
    language: Language = ENGLISH,
) -> Counted:
    """Return the rows of words and phrases that passages add, or with sign -1 remove.

    A word's row counts passages that hold its stem, or the symbol that it is (n), and how often it is written with a
    capital and without inside sentences (upper, lower); where all nouns have capitals, a word behind an article counts
    as one without. A phrase's row counts the passages that hold it; the names that a trained `pipeline` finds count as
    phrases.
    """
    df: Counter[str | None] = Counter()
    inside: Counter[tuple[str, bool, bool]] = Counter()  # words of texts: word, has a capital, begins a sentence
    phrases: Counter[str] = Counter()
    for passage in passages:
        body = passage.text
        capitalised = (
            p.name for p in (*passage.title_phrases, *passage.phrases) if p.name and p.kind not in ("none", "part")
        )
        phrases.update({*capitalised, *named_entities(passage.as_written, pipeline, language)})
        df.update({*content_stems(passage.words + passage.headings, language), *passage.symbols})
        common = common_nouns(body, language)
        capitals = [token.raw[0].isupper() and i not in common for i, token in enumerate(body)]
        starts = [token.starts for token in body]
        inside.update(zip(passage.text_words, capitals, starts, strict=True))
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    stemmed = content_stems([word for word, _, _ in inside], language)
    for ((_, capital, starts_sentence), n), stem in zip(inside.items(), stemmed, strict=True):
        if stem is not None and not starts_sentence:
            (upper if capital else lower)[stem] += n
    words = [
        {
            "id": word_id(collection, stem),
            "stem": stem,
            "n": sign * n,
            "upper": sign * upper[stem],
            "lower": sign * lower[stem],
        }
        for stem, n in sorted((stem, n) for stem, n in df.items() if stem is not None)
    ]
    names = [
        {"id": entity_id(collection, name), "normal": name, "folded": folded_name(name), "n": sign * n}
        for name, n in phrases.items()
    ]
    return words, sorted(names, key=lambda row: str(row["id"]))


def difference(removed: Counted, added: Counted) -> Counted:
    """Return the sum of the counts of removed and of added passages, without zeros."""
    words, names = (_sums([*before, *after]) for before, after in zip(removed, added, strict=True))
    return sorted(words, key=lambda row: str(row["stem"])), sorted(names, key=lambda row: str(row["id"]))


def _sums(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each id, with the sums of its counts, if one of them is not 0."""
    sums: dict[str, Row] = {}
    for row in rows:
        before = sums.setdefault(row["id"], row)
        if before is not row:
            before |= {key: before[key] + row[key] for key in _COUNTS if key in row}
    return [row for row in sums.values() if any(row.get(key) for key in _COUNTS)]
