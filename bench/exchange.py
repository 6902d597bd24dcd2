"""Measure export, import, backup and restore: seconds, sizes, peak memory, and whether the digest is the same.

    python bench/exchange.py                          graphs of about 10,000 and 50,000 nodes
    python bench/exchange.py --passages 20000 --format jsonl --json

Each graph has everything that a collection can hold (documents with pages and tables, triples, a kept run), is loaded
in bulk into a server of its own, exported, deleted and imported in each format, then backed up, deleted and restored.
The digest is that of `kgrag inspect --digest --all`. Every export and import runs in a process of its own, so that its
peak memory can be told: the highest resident set (VmHWM), and how much of it there was before the work began.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from synthetic import HashingEmbedder, documents
from traversal import COLLECTION, FACTS, own_home, told

from kgrag.client import KnowledgeGraph
from kgrag.graph.contents import LABELS, fingerprint
from kgrag.graph.local import LocalServer
from kgrag.graph.local.backup import backup, restore
from kgrag.retrieval.base import Query
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document, Page, Table
from kgrag.values.events import Answer

TARGETS = {"jsonl": "out.jsonl", "jsonl.gz": "out.jsonl.gz", "graphml": "out.graphml"}
PASSAGES = (450, 2700)  # 10,000 and 50,000 nodes
EVERY = 10  # the documents that have pages and a table
Row = dict[str, Any]


def whole(number: int) -> Iterator[Document]:
    """Documents with triples, metadata, and some with pages and tables."""
    for i, document in enumerate(documents(number, FACTS, number * FACTS)):
        more = replace(document, metadata={"number": i, "share": i / 7, "even": i % 2 == 0, "note": f'«{i}», "ü"'})
        if i % EVERY == 0:
            pages = (Page(1, 'First, "quoted"\nand on', "i"), Page(2, ""))
            more = replace(more, pages=pages, tables=(Table(1, (("a", "b"), ("1;2", "ö")), "Caption", 1, 2),))
        yield more


def measure(number: int, formats: list[str]) -> Row:
    """All figures of a graph of so many passages."""
    row: Row = {"passages": number}
    with own_home(IndexingSettings()) as settings:
        KnowledgeGraph.load_in_bulk(
            whole(number), COLLECTION, embedder=HashingEmbedder(), settings=settings, progress=told
        )
        with KnowledgeGraph.local(settings) as kg:
            kg.embedder(HashingEmbedder())
            ranking = kg[COLLECTION].retriever("bm25").retrieve(Query("Who founded it?"), 5)
            kg[COLLECTION].save(Answer("Who founded it?", "Nobody.", True, "bench", ranking))
            begun = time.monotonic()
            found = fingerprint(kg.graph, COLLECTION)
            row |= {"digest": found.total(), "digest_seconds": time.monotonic() - begun}
            row |= {"nodes": sum(n for kind, n in found.counts.items() if kind in LABELS)}
            row |= {"edges": sum(found.counts.values()) - row["nodes"]}
        row["formats"] = {}
        for format in formats:
            row["formats"][format] = there_and_back(settings, format, row["digest"])
            print(f"  {format}: {row['formats'][format]}", file=sys.stderr)
        row["backup"] = kept(settings, row["digest"])
    return row


def there_and_back(settings: Settings, format: str, digest: str) -> Row:
    """Export, delete, import."""
    target = settings.home / TARGETS[format]
    out = child(settings, "export", target)
    delete(settings)
    back = child(settings, "import", target)
    return {"mb": target.stat().st_size / 1e6, "export": out, "import": back, "same": digest_of(settings) == digest}


def kept(settings: Settings, digest: str) -> Row:
    """Back up, delete, restore."""
    server, target = LocalServer(settings), settings.home / "bench.dump"
    report = backup(server, settings.neo4j_database, target, told, overwrite=True)
    delete(settings)
    back = restore(server, settings.neo4j_database, target, told)
    return {
        "mb": report.bytes / 1e6,
        "store_mb": report.store_bytes / 1e6,
        "backup_seconds": report.seconds,
        "restore_seconds": back.seconds,
        "same": digest_of(settings) == digest,
    }


def delete(settings: Settings) -> None:
    with KnowledgeGraph.local(settings) as kg:
        kg[COLLECTION].delete()


def digest_of(settings: Settings) -> str:
    with KnowledgeGraph.local(settings) as kg:
        return fingerprint(kg.graph, COLLECTION).total()


def child(settings: Settings, work: str, target: Path) -> Row:
    """Do the work in a process of its own."""
    local = settings.local
    env = {
        "KGRAG_HOME": str(settings.home),
        "KGRAG_LOCAL__BOLT_PORT": str(local.bolt_port),
        "KGRAG_LOCAL__HTTP_PORT": str(local.http_port),
    }
    command = [sys.executable, __file__, "--work", work, "--target", str(target)]
    done = subprocess.run(command, env=os.environ | env, stdout=subprocess.PIPE, check=True)
    result: Row = json.loads(done.stdout)
    return result


def work(what: str, target: str) -> None:
    """In the child: print seconds and memory as JSON."""
    import kgrag.exchange.export
    import kgrag.exchange.importing  # noqa: F401 - what they take is not counted

    with KnowledgeGraph.local() as kg:
        before = memory("VmRSS")
        begun = time.monotonic()
        if what == "export":
            kg[COLLECTION].export(target, overwrite=True, progress=told)
        else:
            kg.import_export(target, progress=told)
        seconds = time.monotonic() - begun
    print(json.dumps({"seconds": seconds, "peak_mb": memory("VmHWM"), "before_mb": before}))


def memory(what: str) -> float:
    """MB of this process, as Linux counts them: its highest resident set begins again with a new program."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def show(row: Row) -> None:
    print(f"\n{row['nodes']:,} nodes, {row['edges']:,} edges ({row['passages']:,} passages); ", end="")
    print(f"digest in {row['digest_seconds']:.1f} s: {row['digest']}")
    print(f"  {'':10}{'MB':>8}{'export s':>10}{'import s':>10}{'export peak MB':>18}{'import peak MB':>18}  digest")
    said: Callable[[bool], str] = lambda same: "same" if same else "DIFFERENT"  # noqa: E731
    for format, its in row["formats"].items():
        out, back = its["export"], its["import"]
        peaks = [f"{w['peak_mb']:.0f} ({w['before_mb']:.0f} before)" for w in (out, back)]
        figures = f"{its['mb']:8.1f}{out['seconds']:10.1f}{back['seconds']:10.1f}{peaks[0]:>18}{peaks[1]:>18}"
        print(f"  {format:10}{figures}  {said(its['same'])}")
    kept = row["backup"]
    print(
        f"  {'backup':10}{kept['mb']:8.1f}{kept['backup_seconds']:10.1f}{kept['restore_seconds']:10.1f}"
        f"  (store {kept['store_mb']:.0f} MB)  {said(kept['same'])}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, action="append", help="size of a graph; may be repeated")
    parser.add_argument("--format", choices=TARGETS, action="append", help="default: each")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work, chosen.target)
        return
    rows = []
    for number in chosen.passages or PASSAGES:
        rows.append(measure(number, chosen.format or list(TARGETS)))
        if not chosen.json:
            show(rows[-1])
    if chosen.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
