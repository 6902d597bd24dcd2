"""kgrag reproduce: the tables of the papers, their numbers beside those that are measured here."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import changed, load_settings, note, print_json, print_list, progress_bars
from kgrag.cli.measuring import ingest, print_notes, print_sheet
from kgrag.cli.papers import as_paper
from kgrag.errors import ConfigurationError

if TYPE_CHECKING:
    from kgrag.evaluation.datasets import Dataset

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("paper")
@click.option("--table", "number", metavar="N", help="Which of its tables; without it they are listed.")
@click.option(
    "--data",
    "sets",
    multiple=True,
    metavar="NAME=DATASET",
    help="One of the table's data sets, as of `kgrag eval`; repeatable.",
)
@click.option("--row", "labels", multiple=True, metavar="LABEL", help="Only this row; repeatable.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Questions of each set.  [default: the paper's]")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the questions that are drawn.")
@click.option("--embedder", metavar="NAME", help="In place of the paper's.")
@click.option("-c", "--collection", metavar="NAME", help="Where the one data set is, or is to be, ingested.")
@click.option("--threads", type=click.IntRange(1, 256), metavar="N", default=8, show_default=True)
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="What the language models may cost, at most.")
@click.option("--out", type=_PATH, metavar="DIR", help="Keep each question's record there, and go on from them.")
@as_json
def reproduce(**given: Any) -> None:
    """Measure a table of a paper again, and print its numbers beside ours.

    Every setting is as the paper has it (`kgrag systems --paper PAPER`), unless the environment or an option says
    otherwise; the paper's own model is only named, yours is asked (KGRAG_CHAT__MODEL). Below the table stands what
    differs: the model, the embedder, the sample, the corpus, and what kgrag does otherwise. What costs money is
    counted, and with --budget it ends there; the same command with --out goes on. A table with Acc has a model mark
    the answers. Systems that need triples need them in the collection: triples.jsonl, or `kgrag extract -c` with the
    same name.

    \b
    kgrag reproduce gear                                          its tables
    kgrag reproduce gear --table 2 --data musique=bench/musique --sample 44 --embedder minilm --out runs/
    kgrag reproduce bdtr --table 1 --data hotpotqa=hotpot.json --data musique=musique.jsonl --budget 5 --out runs/
    """
    from kgrag.papers import find_paper

    known = find_paper(given["paper"])
    if given["number"] is None:
        _list(known.tables, as_json=given["as_json"])
        return
    table = known.table(given["number"])
    settings, paper = as_paper(load_settings(), given["paper"])
    assert paper is not None
    from kgrag.evaluation.reproduction import Reproduction

    own = "concurrency" in settings.chat.model_fields_set
    threads = None if own else max(given["threads"], settings.chat.concurrency)
    settings = changed(settings, "chat", budget=given["budget"], concurrency=threads)
    sets = _sets(given["sets"], table.data)
    if given["collection"] is not None and len(sets) > 1:
        raise click.UsageError("--collection is of one data set; there are several.")
    sample = given["sample"] or paper.setting("evaluation.sample")
    run = Reproduction(paper, table, given["labels"], seed=given["seed"], threads=given["threads"], out=given["out"])
    if run.asks:
        from kgrag.models.openai_chat import load_chat

        load_chat(settings).close()  # before anything is ingested
    embedder = given["embedder"] or settings.embedder
    settings = settings.model_copy(update={"embedder": embedder})
    for name, data in sets.items():
        sets[name] = data.sample(sample, given["seed"])
        print_notes(sets[name])
    try:
        with progress_bars() as progress:
            for name, data in sets.items():
                for special, rows in run.parts():
                    own_settings = special(settings)
                    with connect(own_settings) as kg:
                        where = given["collection"] or data.collection(
                            embedder, settings.max_file_mb, own_settings.indexing, paper
                        )
                        found = kg[where] if run.per_question else ingest(kg, data, where, embedder, progress)
                        run.measure(name, data, found, rows, progress)
    except BaseException:
        if given["out"] is not None:
            note(f"What was measured so far is in {given['out']}; the same command goes on from there.")
        raise
    result = run.result(settings, embedder)
    if given["as_json"]:
        print_json(result.values())
        return
    print_sheet(result.sheet())
    print_list("What differs from the paper:", result.differs)
    note(result.spent)


def _list(tables: Any, *, as_json: bool) -> None:
    listed = [
        {"table": t.number, "caption": t.caption, "data": list(t.data), "measures": list(t.measures)}
        for t in tables.values()
    ]
    if as_json:
        print_json(listed)
        return
    for table in listed:
        click.echo(f"{table['table']}: {table['caption']} ({', '.join(table['measures'])}; {', '.join(table['data'])})")
    if not listed:
        click.echo("None of its tables is here.")


def _sets(given: tuple[str, ...], known: tuple[str, ...]) -> "dict[str, Dataset]":
    """The data sets that are named. Raises ConfigurationError for one that the table has not, or none at all."""
    from kgrag.evaluation.readers import read_dataset

    found: dict[str, Dataset] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or name not in known:
            raise ConfigurationError(
                f"--data {text} names none of the table's data sets.",
                f"Write NAME=DATASET with one of: {', '.join(known)}.",
            )
        found[name] = read_dataset(Path(path))
    if not found:
        raise ConfigurationError(
            "There is nothing to measure on.", f"Write --data NAME=DATASET with one of: {', '.join(known)}."
        )
    return found
