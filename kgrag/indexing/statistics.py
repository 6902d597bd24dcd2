"""Statistics of words and names, kept as counts in the graph: what the gazetteer and the weights of words rest on.

Every passage is counted once, in the transaction that takes its mark off, and taken back in the transaction that
removes it; its share follows from its title, headings and text alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Transaction
from kgrag.indexing.named_entities import named_entities
from kgrag.indexing.stage import Row, StageContext
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import capitalised_phrases, common_nouns
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import content_stems, folded_name
from kgrag.values.identity import entity_id, word_id

_BATCH = 3000


def count_statistics(work: StageContext) -> None:
    """Count the words and capitalised phrases of new passages; words that change their case mark their passages."""
    due, collection = work.due("Passage", "words"), work.collection
    compute = partial(_counted, work.name, collection.indexing.pipeline, collection.language)
    for ids, (words, phrases) in work.computed(due, _BATCH, "words", partial(work.rows, "look_up/texts"), compute):

        def count(tx: Transaction, words: list[Row] = words, phrases: list[Row] = phrases) -> None:
            write_statistics(tx, work.collection, words, phrases)

        work.commit("Passage", "words", ids, count)
    work.spread("Word", "case", work.word_phrases, "mentions")


def _counted(
    collection: str, pipeline: str | None, language: Language, batch: tuple[list[str], list[Row]]
) -> tuple[list[Row], list[Row]]:
    """What the passages of a batch add."""
    return statistics(collection, tokenised(batch[1], language), pipeline=pipeline, language=language)


def tokenised(rows: Iterable[Mapping[str, Any]], language: Language) -> Iterator[TokenisedPassage]:
    """Cut passages into words: maps with title, text and section."""
    return (TokenisedPassage(row["title"], row["text"], row["section"], language) for row in rows)


def write_statistics(tx: Transaction, collection: Collection, words: list[Row], phrases: list[Row]) -> None:
    """Add to the counts of words and names, within a transaction."""
    tx.run("write/count_words", rows=words, collection=collection.name)
    tx.run("write/count_phrases", rows=phrases, collection=collection.name, labels=[collection.label("Entity")])


def written_names(passage: TokenisedPassage, pipeline: str | None, language: Language) -> dict[str, str]:
    """Return the names that a passage holds, in the form they are known by, and how it writes them."""
    return {
        **named_entities(passage.as_written, pipeline, language),
        **capitalised_phrases(passage.title, language),
        **passage.phrases,
    }


def statistics(
    collection: str,
    passages: Iterable[TokenisedPassage],
    sign: int = 1,
    pipeline: str | None = None,
    language: Language = ENGLISH,
) -> tuple[list[Row], list[Row]]:
    """The rows of words and phrases that passages add, or with sign -1 take away.

    A word's row counts passages that hold its stem, or the symbol that it is (n), and how often it is written with a
    capital and without inside sentences (upper, lower); where all nouns have capitals, a word behind an article counts
    as one without. A phrase's row counts the passages that hold it; the names that
    a trained `pipeline` finds count as phrases.
    """
    df: Counter[str | None] = Counter()
    inside: Counter[tuple[str, bool, bool]] = Counter()  # words of texts: word, has a capital, begins a sentence
    phrases: Counter[str] = Counter()
    surfaces: dict[str, str] = {}
    for passage in passages:
        body = passage.text
        written = written_names(passage, pipeline, language)
        phrases.update(written.keys())
        for name, surface in written.items():
            surfaces[name] = min(surface, surfaces.get(name, surface))
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
        {
            "id": entity_id(collection, name),
            "normal": name,
            "folded": folded_name(name),
            "name": surfaces[name],
            "n": sign * n,
        }
        for name, n in phrases.items()
    ]
    return words, sorted(names, key=lambda row: str(row["id"]))
