"""The names that entities are shown under, after what wrote them so was removed.

An entity bears the smallest of the ways in which titles, headings and facts write its name, or else texts.
"""

from collections.abc import Iterator

from kgrag.graph.connection import Transaction
from kgrag.indexing.stage import Row, StageContext
from kgrag.indexing.statistics import tokenised, written_names
from kgrag.text.aliases import passage_aliases, title_aliases
from kgrag.text.languages import Language
from kgrag.text.tokens import normalise

_BATCH = 200
_READ = 1000  # passages at a time


def name_anew(work: StageContext) -> None:
    """Name the entities anew that are marked for it, by what is left."""
    for ids in work.batches(work.due("Entity", "name"), _BATCH, "names"):
        rows = [
            {"id": row["id"], "name": name}
            for row in work.rows("stages/shown_names", ids)
            if (name := _name(work, row))
        ]

        def write(tx: Transaction, rows: list[Row] = rows) -> None:
            tx.run("write/shown_names", rows=rows)

        work.commit("Entity", "name", ids, write)


def _name(work: StageContext, row: Row) -> str | None:
    """The name of an entity, a row of `cypher/stages/shown_names.cypher`; None where nothing is seen to write it."""
    named = min(_by_titles_and_facts(row, work.collection.language), default=None)
    return named or _in_texts(work, row)


def _by_titles_and_facts(row: Row, language: Language) -> Iterator[str]:
    for document in row["titles"]:
        aliases = title_aliases(document["title"], document["lead"] or "", language)
        yield from (alias.surface for alias in aliases if alias.normal == row["normal"])
    for passage in row["headings"]:
        own = passage["section"].rsplit(" > ", 1)[-1].strip()
        aliases = passage_aliases(passage["section"], passage["text"], {own} - {""}, language)
        yield from (alias.surface for alias in aliases if alias.normal == row["normal"])
    yield from (fact for fact in row["facts"] if normalise(fact, language) == row["normal"])


def _in_texts(work: StageContext, row: Row) -> str | None:
    language, pipeline = work.collection.language, work.collection.indexing.pipeline
    written = {title for title in row["articles"] if normalise(title, language) == row["normal"]}
    for start in range(0, len(row["passages"]), _READ):
        texts = work.rows("look_up/texts", row["passages"][start : start + _READ])
        names = (written_names(passage, pipeline, language) for passage in tokenised(texts, language))
        written.update(its[row["normal"]] for its in names if row["normal"] in its)
    return min(written, default=None)
