"""kgrag ingest, delete: documents go into the graph and out of it."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from kgrag.cli.connect import F, as_json, choose_collection, collection_option, connect, engine_options, import_driver
from kgrag.cli.console import changed, load_settings, note, number, print_json, print_list, progress_bars
from kgrag.cli.outcome import interruptible
from kgrag.values.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.indexing.bulk import HandOver
    from kgrag.values.documents import Problem
    from kgrag.values.results import IngestReport

NOT_READ = 12
"""The exit code of an ingest that read some files, and others not."""
_NAMES = 12  # extensions or encodings listed in a message


def loading_options(command: F) -> F:
    """Add the options of loaders, and those of a new collection."""
    for option in (
        click.option("--text-column", metavar="NAME", help="For CSV, TSV and JSON: column of the text, or more: A,B."),
        click.option("--title-column", metavar="NAME", help="For CSV, TSV and JSON: the column of the title."),
        click.option("--key-column", metavar="NAME",
                     help="For CSV, TSV and JSON: the column of ids, unique over all files."),
        click.option("--root", metavar="DIR",
                     help="Folder in which paths of files are keys, wherever it is."),
        click.option("--language", metavar="CODE", help="For a new collection: en, de, zh, ...  [default: found out]"),
        click.option("--embedder", metavar="NAME",
                     help="For a new collection: wordllama (default), minilm, sbert:MODEL, ..."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@collection_option("Target collection; it is made if it does not exist.  [default: default]")
@loading_options
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip matching files, as in .gitignore; repeatable.")
@click.option("--prune", is_flag=True, help="Delete the documents of files, and rows, that are no longer there.")
@click.option("--yes", is_flag=True, help="With --prune: do not ask.")
@click.option("--force", is_flag=True, help="With --prune: also most documents, and those of a folder without files.")
@click.option(
    "--reader", multiple=True, metavar="NAME",
    help="Read files with docling or markitdown, if installed; if repeated, the first that accepts a file.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="End with 5 if anything could not be read, or was left out.")
@engine_options
@click.option("--bulk", is_flag=True, help="Load a first, large collection into this machine's empty Neo4j, faster.")
@click.option("--files", metavar="DIR", help="With --bulk: write files that another server imports, and say how.")
@click.option("--replace-database", is_flag=True, help="With --bulk: give up all the database holds; a dump is kept.")
@as_json
def ingest(
    paths: tuple[str, ...],
    collection: str | None,
    embedder: str | None,
    language: str | None,
    root: str | None,
    key_column: str | None,
    title_column: str | None,
    text_column: str | None,
    exclude: tuple[str, ...],
    prune: bool,
    yes: bool,
    force: bool,
    reader: tuple[str, ...],
    strict: bool,
    engine: dict[str, Any],
    bulk: bool,
    files: str | None,
    replace_database: bool,
    as_json: bool,
) -> None:
    """Read files and folders into a collection.

    Folders are read with all they hold: text (.txt), Markdown (.md, .markdown), reStructuredText (.rst), AsciiDoc
    (.adoc, .asciidoc), Org (.org), Jupyter notebooks (.ipynb), subtitles (.srt, .vtt), HTML (.html, .htm), PDF (.pdf),
    Word (.docx, .docm, .dotx, .dotm), PowerPoint (.pptx, .pptm, .ppsx, .ppsm, .potx, .potm), Excel (.xlsx, .xlsm,
    .xltx, .xltm), OpenDocument (.odt, .ods, .odp, and templates: .ott, .ots, .otp), RTF (.rtf), EPUB (.epub), e-mails
    (.eml, .mbox), calendars (.ics, .ical, .ifb), JSON Lines (.jsonl, .ndjson), .json, .csv and .tsv, Parquet
    (.parquet), web archives (.warc, .warc.gz, .wet, .wet.gz), pictures (.png, .jpg, .jpeg, .tif, .tiff, .webp, .bmp,
    .gif; in folders only with KGRAG_LOADING__RECOGNITION=on), and source code (listed below), TeX as it is written;
    other files, such as XML and logs, are counted. Each row of a table and each page of an archive is a document. The
    columns of a row's key, title and text are found by their usual names (id, title, text, ...) or named by options.
    Unchanged documents are skipped, so the same command brings a collection up to date and resumes after an
    interruption. Files of the same size and times are not opened. Unreadable files are listed at the end and do not
    stop the rest.

    Exit codes: 0 if everything was read; 12 if some files or rows could not be read; 5 if nothing could be read, or
    with --strict if anything is listed, such as comments that were left out.

    Documents whose files or rows are gone from a folder are listed, and stay. --prune deletes them, after a question or
    with --yes. If they are more than half of the folders' documents (KGRAG_LOADING__PRUNE_LIMIT), it asks in any case,
    and deletes nothing without a terminal. Nothing is deleted if a folder is missing, unreadable or without any file,
    since it may not be mounted. --force deletes the documents in these cases, too, except those of unreadable files.
    `kgrag watch FOLDER` prunes at each change.

    The key of a file is its absolute path with links resolved, in whatever form you type the path. With --root DIR the
    key is the path in DIR, so that the folder can be moved, or read on another machine. The key of a row is FILE#ID, or
    FILE#LINE without an id. Ids in the column that --key-column names, and ids of a corpus.jsonl, are keys by
    themselves. Links that lead out of a folder are followed only with KGRAG_LOADING__FOLLOW_LINKS=true.

    In folders it skips hidden files, node_modules, and files that .gitignore files (unless
    KGRAG_LOADING__GITIGNORE=false) or --exclude name. A gzipped file such as notes.txt.gz is read as the file in it. A
    CSV file without a column for the text is one document with a table.

    Source code: .asm .bash .bat .bib .c .cc .cfg .clj .cmake .conf .cpp .cs .css .cxx .cypher .dart .el .erl .ex
    .exs .f90 .fish .go .gradle .graphql .groovy .h .hh .hpp .hs .ini .java .jl .js .jsx .kt .kts .less .lisp .lua
    .m .mjs .ml .mm .php .pl .pm .properties .proto .ps1 .py .pyi .pyx .r .rb .rs .sass .scala .scm .scss .sh .sql
    .svelte .swift .tcl .tex .tf .toml .ts .tsx .vb .vim .vue .yaml .yml .zig .zsh.

    Texts that are not UTF-8 are converted, and counted at the end by their encoding. KGRAG_LOADING__ENCODING sets the
    encoding.

    --engine chooses where texts are split, searched for names and embedded: in this process, in several processes of
    this machine, or on a Ray cluster (extra ray) whose machines have the same kgrag. The graph is the same.

    With --bulk the same graph is made through files and Neo4j's import tool. The server is stopped meanwhile; an
    interrupted load leaves the database as it was. With --files DIR the files are for another server: they are written
    into a new folder, and the commands to run there are printed.

    \b
    kgrag ingest notes/                                  into the collection "default"
    kgrag ingest notes/ report.html -c work              several, into "work"
    kgrag ingest items.csv --key-column sku --text-column description
    kgrag ingest reports/ --reader docling              PDF and office files by Docling, the others as ever
    kgrag ingest project/ --exclude build/ --exclude "*.min.js"
    kgrag ingest /srv/wiki --root /srv/wiki -c wiki      keys like "guide/install.md"
    kgrag ingest notes/ -c work --prune                  also deletes the documents of deleted files
    kgrag ingest notes/ --strict --json > report.json    for a script
    kgrag ingest wikipedia.jsonl --engine ray
    kgrag ingest wikipedia.jsonl --bulk -c wiki          a million passages, into an empty database
    kgrag ingest wikipedia.jsonl --bulk --files out/     the same for a server elsewhere
    """
    import_driver()
    from kgrag.client.graph import DEFAULT_COLLECTION, KnowledgeGraph
    from kgrag.loaders import Columns

    if replace_database and not bulk:
        raise click.UsageError("--replace-database goes with --bulk.")
    if (yes or force) and not prune:
        raise click.UsageError("--yes and --force go with --prune.")
    if files is not None and (not bulk or replace_database):
        raise click.UsageError("--files goes with --bulk, and without --replace-database.")
    if prune and bulk:
        raise click.UsageError("--bulk makes a new collection: there is nothing to --prune.")
    collection = DEFAULT_COLLECTION if collection is None else collection
    columns = Columns(key=key_column, title=title_column, text=text_column)
    try:
        settings = changed(load_settings(), "engine", **engine)
        settings = changed(settings, "loading", readers=reader or None)
        settings = changed(settings, "loading", exclude=(*settings.loading.exclude, *exclude) if exclude else None)
        if files is not None:
            with progress_bars() as progress:
                report: IngestReport = KnowledgeGraph.write_bulk_files(
                    list(paths), files, collection, embedder=embedder, language=language, columns=columns, root=root,
                    settings=settings, progress=progress,
                )  # fmt: skip
        elif bulk:
            with progress_bars() as progress:
                report = KnowledgeGraph.load_in_bulk(
                    list(paths), collection, embedder=embedder, language=language, columns=columns, root=root,
                    replace_database=replace_database, settings=settings, progress=progress,
                )  # fmt: skip
        else:
            with interruptible(), connect(settings) as kg:
                with progress_bars() as progress:
                    report = kg[collection].ingest(
                        list(paths), embedder=embedder, language=language, columns=columns, root=root,
                        prune=prune and yes, force=force, progress=progress,
                    )  # fmt: skip
                if prune and report.gone and not report.pruned and _confirm_pruning(report, collection):
                    with progress_bars() as progress:
                        kg[collection].delete(report.gone, progress=progress)
                    report = replace(report, pruned=len(report.gone))
    except KeyboardInterrupt:
        note(
            "Stopped. There are no files; run the same command again."
            if files is not None
            else "Stopped. The database is unchanged; or, if the import was over, only its indexes are incomplete."
            if bulk
            else "Stopped; committed data stays. Run the same command again to resume."
        )
        click.get_current_context().exit(130)
    from kgrag.wire import to_json

    read = report.added + report.changed + report.unchanged
    if as_json:
        print_json(to_json(report, collection=collection))
    elif read or report.gone:
        for line in summary(report, collection):
            click.echo(line)
        if (dump := getattr(report, "dump", None)) is not None:
            click.echo(f"What the database held before is kept in {dump}")
        if files is not None and (hand_over := cast("HandOver", report)).files:
            print_hand_over(hand_over, settings.neo4j_database, collection)
    print_changes(report, prune)
    print_problems(report.problems)
    if not (read or report.gone or report.unsettled):
        raise InputError(
            "Nothing could be read." if report.problems else "There was nothing to read.",
            "`kgrag ingest --help` says which files can be read, and how to name the columns of tables.",
        )
    if strict and report.problems:
        click.get_current_context().exit(InputError.exit_code)
    if prune and report.gone and not report.pruned and not sys.stdin.isatty():
        remedy = "--force deletes them, if the folders are whole" if yes else "Add --yes to delete them"
        raise click.UsageError(f"There is no terminal to ask on, so they stay. {remedy}.")
    if any(not problem.lasting for problem in report.problems):
        click.get_current_context().exit(NOT_READ)


@click.command()
@click.option("--document", "documents", multiple=True, metavar="KEY", help="A document, by its key; may be repeated.")
@collection_option("The collection; without --document, all of it is deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
def delete(documents: tuple[str, ...], collection: str | None, yes: bool, as_json: bool) -> None:
    """Delete documents, or a whole collection.

    This removes everything in the graph that came only from them. A document's key is its absolute path, its path in
    --root, or its id (see `kgrag ingest --help`). `kgrag show` and `kgrag search --json` print the key. The path of an
    existing file may be typed in any form. To delete a whole collection, name it with --collection; KGRAG_COLLECTION
    does not count here.

    \b
    kgrag delete --document notes/draft.md                      one document of the only collection
    kgrag delete --document a.md --document b.md -c work        two documents of "work"
    kgrag delete --collection work --yes                        all of "work", without asking
    """
    named = click.get_current_context().get_parameter_source("collection") is ParameterSource.COMMANDLINE
    if not documents and not named:
        raise click.UsageError("Say what to delete: --document KEY, or --collection NAME for a whole collection.")
    from kgrag.loaders.folder_walk import file_key

    with connect() as kg:
        name = choose_collection(kg, collection)
        if not yes:
            _confirm(kg, name, documents)
        with progress_bars() as progress:
            try:
                removed = kg[name].delete(documents=documents or None, progress=progress)
            except NotFoundError:
                paths = tuple(file_key(key) if Path(key).exists() else key for key in documents)
                if paths == documents:
                    raise
                removed = kg[name].delete(documents=paths, progress=progress)
    if as_json:
        print_json({"collection": name, "documents": sorted(set(documents)), "passages": removed})
        return
    what = number(len(set(documents)), "document") if documents else f"collection {name}"
    click.echo(f"Deleted {what} ({number(removed, 'passage')}).")


def summary(report: "IngestReport", collection: str) -> Iterator[str]:
    """Yield the result of an ingest, in a line or two."""
    changes = f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged"
    pruned = f", {report.pruned:,} deleted" if report.pruned else ""
    yield f"Collection {collection}: {changes}{pruned}"
    rate = f", {report.passages / report.seconds:,.0f} passages/s" if report.passages >= 10 and report.seconds else ""
    output = f"{number(report.passages, 'passage')} written, {number(report.embedded, 'vector')} computed"
    yield f"{output} in {report.seconds:.1f} s{rate}"


def print_hand_over(report: "HandOver", database: str, collection: str) -> None:
    """Print what to do with the files of a collection."""
    click.echo(f"{number(report.files, 'file')}, {report.bytes / 1e6:,.0f} MB, in {report.folder}")
    click.echo("\nOn the server, while it is down, or in a cluster has no database of that name:")
    for line in report.commands(database):
        click.echo(f"  {line}")
    click.echo("When it runs again, with KGRAG_NEO4J_URI as its address, for constraints and indexes:")
    click.echo(f"  kgrag db repair {shlex.quote(collection)}")
    if report.left:
        click.echo(
            f"Then the {number(report.left, 'document')} that CSV cannot hold: the same kgrag ingest without --bulk"
        )


def print_changes(report: "IngestReport", prune: bool = False) -> None:
    """Print on standard error the files that are gone, came from elsewhere, were skipped or converted."""
    from kgrag.loaders.images import IMAGE

    if report.gone and not prune:
        print_list(
            f"{number(len(report.gone), 'document')} of this collection whose file or row is no longer there "
            "(they stay; kgrag ingest --prune deletes them):",
            report.gone,
        )
    if report.replaced:
        print_list(
            f"{number(len(report.replaced), 'document')} took the place of another with the same key:",
            [f"{r.key}: was {r.before}, now {r.now}" for r in report.replaced],
        )
    if report.skipped:
        waiting = "; KGRAG_LOADING__RECOGNITION=on has pictures read" if {*IMAGE.extensions} & {*report.skipped} else ""
        note(f"{number(sum(report.skipped.values()), 'file')} skipped: {_tally(report.skipped)}{waiting}")
    if report.converted:
        note(f"{number(sum(report.converted.values()), 'file')} not in UTF-8, converted: {_tally(report.converted)}")
    if report.left_out:
        note(f"Left out beside the text: {_tally(report.left_out)}")


def _tally(counts: Mapping[str, int]) -> str:
    """Return names with their numbers, the greatest first: ".xyz 9, .bin 2, without extension 1"."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{name or 'without extension'} {count:,}" for name, count in ordered[:_NAMES]]
    return ", ".join([*parts, *(["..."] if len(ordered) > _NAMES else [])])


def _confirm_pruning(report: "IngestReport", collection: str) -> bool:
    """Show the files that are gone, and ask whether to delete their documents; without a terminal they stay."""
    absent = report.gone
    print_list(f"{number(len(absent), 'document')} of {collection} whose file or row is no longer there:", absent)
    whole = len(absent) + report.added + report.changed + report.unchanged
    return sys.stdin.isatty() and click.confirm(f"Delete {len(absent):,} of {number(whole, 'document')}?", err=True)


def print_problems(problems: "Sequence[Problem]") -> None:
    """Print what could not be read on standard error, the first of many."""
    if problems:
        print_list(f"{number(len(problems), 'problem')}:", [f"{p.place}: {p.message}" for p in problems])


def _confirm(kg: "KnowledgeGraph", collection: str, documents: Sequence[str]) -> None:
    """Ask on a terminal; elsewhere refuse."""
    from kgrag.graph.collections import DOCUMENTS, open_collection
    from kgrag.graph.counts import collection_info

    record = open_collection(kg.graph, collection)
    if documents:
        what = f"{number(len(set(documents)), 'document')} of collection {collection}"
    else:
        counts = collection_info(kg.graph, record).counts
        kinds = {"Document": "document", "Passage": "passage"} if record.kind == DOCUMENTS else {"Triple": "fact"}
        contents = ", ".join(number(counts.get(label, 0), name) for label, name in kinds.items())
        what = f"collection {collection} ({contents})"
    if not sys.stdin.isatty():
        raise click.UsageError(f"This would delete {what}, and there is no terminal to ask on. Add --yes to do it.")
    click.confirm(f"Delete {what}?", abort=True, err=True)
