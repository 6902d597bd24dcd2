"""Read random texts and damaged files of every format, and report each error that no reader foresaw.

python bench/fuzz_readers.py --texts 5000 --files 2000 --seed 1 [--only md,docx]

Text formats get texts generated from the markup of the format. Other formats get test files with changed, removed or
repeated bytes, for archives inside a member. Readers with a process of their own are called as that process calls them:
any reply about a damaged file counts as refused.
"""

import argparse
import io
import json
import random
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from kgrag.loaders.base import BadInput, Source
from kgrag.loaders.dispatch import LOADERS
from kgrag.loaders.named_rows import Columns
from kgrag.loaders.reading import Readers, Reading
from kgrag.loaders.worker import _Reader
from kgrag.settings import LoadingSettings

SECONDS = 20  # for one file
COMMON = [" ", "\n", "\n\n", "\t", *"a kiln Fram 1892 900_kr , ; : | \" ' \\ é 木 0".split()]
SIGNS = {  # "⏎" stands for a line break, "␣" for a space
    "md": """# |- * 1. > ``` ~~~ ~~ ** [ ] ( ) ! [^1] [^1]: $ $$ <s> </s> <table> !!! === ::: --8<-- | |--|--| { } {: ++
        *[a]: ==a== %% [[a]] \\( \\[ <td> --- +++""",
    "adoc": """= == |=== ,=== :=== !=== |a [cols= ] [format=csv] [%header] // //// ---- .. . * 2+| .3+| {a} :a:
        footnote:[ :: [cols="h,1"] [separator=;] include::a[] [quote,a]""",
    "org": """* ** #+BEGIN_SRC #+END_SRC :PROPERTIES: :END: | |- [[ ]] SCHEDULED: <2024-05-03> - 1. [@5] + = ~ #+TITLE:
        :: # TODO [#A] :tag:""",
    "html": """<p> </p> <table> <tr> <td> <th> </table> <ol␣reversed> <li> <pre> <div> </div> <svg> <s> <br> &amp;
        < > <!-- --> <td␣colspan=9> <thead> <title> <select> <option>""",
    "csv": '" , ; ⏎ "" # sep=;⏎ text id',
    "json": """{ } [ ] " , : null true 1e9 "text" "a": {"text":"a"} {"results":[{"a":1}]} ⏎""",
    "jsonl": """{ } [ ] " , : {"text":"a"}⏎ {"id":1,"text":"b"}⏎ [1]⏎ {"a":{"b":[1]}}⏎""",
    "ics": """BEGIN:VCALENDAR⏎ END:VCALENDAR⏎ BEGIN:VEVENT⏎ END:VEVENT⏎ DTSTART:20261130T093000Z⏎ SUMMARY:x⏎ ; : =
        \" \\n DTEND;VALUE=DATE:00010101⏎ ORGANIZER;CN=a:mailto:b⏎ ⏎""",
    "srt": "1⏎ 00:00:01,000␣-->␣00:00:02⏎a⏎ 00:00:01,000 --> WEBVTT⏎ NOTE <v⏎Ann> </v> ⏎⏎",
    "ipynb": """{"cells":[ ]} {"cell_type":"markdown","source":["a"]} {"cell_type":"heading","level":"x"} , null
        {"cell_type":5,"source":{"a":1}} "worksheets":""",
    "rst": "= == * - .. :: .. note:: :ref:`a` `a`_ | +--+ [1]_ .. [1] .. list-table:: .. math:: \\ :a: ===⏎",
    "eml": """Subject:⏎ Content-Type:⏎multipart/alternative;boundary=b⏎ --b⏎ --b--⏎ Content-Type:⏎text/html⏎ ⏎⏎ <p>
        Content-Type:⏎text/calendar⏎ Content-Transfer-Encoding:⏎base64⏎ charset=x Date:""",
    "rtf": r"{ } \par \cell \row \trowd \strike \v \u8364? \'e9 {\footnote {\header \intbl \super \plain {\shp",
    "txt": "",
    "py": "",
}
APART = {
    "rst": "restructured:read_rst", "eml": "mail:read_eml", "rtf": "rtf:read_rtf", "epub": "epub:read_epub",
    "odt": "opendocument:read_odt", "docx": "office_parts:read_office", "xlsx": "office_parts:read_office",
    "pptx": "office_parts:read_office", "mbox": "mail:Mbox", "pdf": "pdf_pages:Pdf",
}  # fmt: skip


def samples(folder: Path) -> dict[str, list[bytes]]:
    """Return real files of the binary formats."""
    tests = Path(__file__).parents[1] / "tests"
    sys.path[:0] = [str(tests / "loaders"), str(tests)]
    import made_documents
    import made_office
    import made_pages
    import pyarrow
    import pyarrow.parquet

    writers: dict[str, list[Callable[[Path], object]]] = {
        "docx": [made_documents.word, made_office.word], "odt": [made_documents.odt, made_office.odt],
        "epub": [made_documents.epub], "pptx": [made_documents.slides, made_pages.slides],
        "xlsx": [made_documents.sheet, made_pages.sheets], "pdf": [made_pages.pdf],
    }  # fmt: skip
    files: dict[str, list[bytes]] = {}
    for suffix, each in writers.items():
        for number, write in enumerate(each):
            write(folder / f"{number}.{suffix}")
            files.setdefault(suffix, []).append((folder / f"{number}.{suffix}").read_bytes())
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a", "b"], "at": [{"x": [1]}, None]}), folder / "a.parquet")
    files["parquet"] = [(folder / "a.parquet").read_bytes()]
    page = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nkiln\r\n\r\n"
    files["warc"] = [page * 3]
    files["mbox"] = [b"From a\nFrom: a@b\nSubject: x\n\nkiln\n\nFrom b\nFrom: c@d\n\noven\n"]
    return files


def mutated(chance: random.Random, data: bytes, most: int = 6) -> bytes:
    """Return bytes with a few of them changed, cut out or repeated; in an archive, those of one member."""
    if data.startswith(b"PK") and chance.random() < 0.8:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as copy:
            names = archive.namelist()
            victim = chance.choice([name for name in names if name.endswith((".xml", ".xhtml", ".rels", ".opf"))])
            for name in names:
                part = archive.read(name)
                copy.writestr(name, mutated(chance, part) if name == victim else part)
        return out.getvalue()
    result = bytearray(data)
    for _ in range(chance.randint(1, most)):
        start = chance.randrange(len(result) + 1)
        end = min(len(result), start + chance.choice((1, 1, 4, 40, 400)))
        kind = chance.random()
        result[start:end] = (
            b"" if kind < 0.4 else result[start:end] * 2 if kind < 0.7 else chance.randbytes(max(1, (end - start) // 4))
        )
    return bytes(result)


def value(chance: random.Random, depth: int = 0) -> object:
    """Return a random JSON value with names that readers know."""
    kind = chance.randrange(4 if depth > 3 else 7)
    if kind < 4:
        return chance.choice((None, True, 5, -1.5, 10**25, "", "kiln", "A kiln is hot.", "0a1b2c3d-4e5f-6a7b-8c9d"))
    if kind == 4:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    names = "text id title meta results data messages cells cell_type source level outputs worksheets x.y".split()
    return {name: value(chance, depth + 1) for name in chance.sample(names, chance.randrange(5))}


def cell(chance: random.Random) -> dict[str, object]:
    """Return random fields of a notebook cell."""
    return {name: value(chance, 2) for name in ("source", "level", "outputs")}


def read(suffix: str, path: Path, reading: Reading) -> None:
    """Read a file as its reader does. Raises the reader's own exceptions."""
    if suffix in APART:
        reader = _Reader(4096)
        answer = reader.answer({"open": str(path), "format": f"kgrag.loaders.{APART[suffix]}", "options": {}})
        header = answer.get("header", {})
        pages = header.get("pages", header.get("messages", 0))
        answers = [
            answer,
            *(reader.answer({"page": n + 1}) for n in range(min(3, pages if isinstance(pages, int) else 0))),
        ]
        if problem := next((each["problem"] for each in answers if "problem" in each), ""):
            raise BadInput(problem)
        return
    form = next(form for _, form in LOADERS.items() if f".{suffix}" in form.extensions)
    for _ in form.load(Source(path, path.name, path.name, 64 << 20), reading):
        pass


def late(*_: object) -> None:
    """Raise TimeoutError."""
    raise TimeoutError(f"takes longer than {SECONDS} s")


def main() -> None:
    """Run, and print the errors of each format by type, with a file for the first of each."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=5000)
    options.add_argument("--files", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="")
    given = options.parse_args()
    signal.signal(signal.SIGALRM, late)
    reading = Reading(Columns(), Readers(LoadingSettings()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        real = samples(folder)
        for suffix in [*SIGNS, *real]:
            if given.only and suffix not in given.only.split(","):
                continue
            start, errors, refused = time.monotonic(), Counter[str](), 0
            number = given.texts if suffix in SIGNS else given.files
            for n in range(number):
                chance = random.Random(f"{given.seed} {suffix} {n}")
                signs = COMMON + SIGNS.get(suffix, "").replace("⏎", "\n").split(" ") * 3
                signs = [sign.replace("␣", " ") for sign in signs]
                if suffix in SIGNS:
                    joint = chance.choice(("", " ", "\n"))
                    data = joint.join(chance.choices(signs, k=chance.randint(1, 40))).encode()
                    if suffix in ("json", "jsonl", "ipynb") and chance.random() < 0.8:
                        cells = [{"cell_type": "heading"} | cell(chance), {"cell_type": "code", "source": "x"}]
                        data = json.dumps({"cells": cells} if suffix == "ipynb" else value(chance)).encode()
                    data = {"rtf": b"{\\rtf1 ", "eml": b"From: a@b\n"}.get(suffix, b"") + data
                else:
                    data = mutated(chance, chance.choice(real[suffix]))
                path = folder / f"x.{suffix}"
                path.write_bytes(data)
                signal.alarm(SECONDS)
                try:
                    read(suffix, path, reading)
                except BadInput:
                    refused += 1
                except Exception as error:
                    trace = error.__traceback__
                    while trace is not None and trace.tb_next is not None:
                        trace = trace.tb_next
                    where = "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
                    kind = f"{type(error).__name__} at {where}: {str(error)[:80]}"
                    if kind not in errors:
                        print(f"  {suffix} {n}: {kind} {data[:100]!r}", flush=True)
                    errors[kind] += 1
                finally:
                    signal.alarm(0)
            took = time.monotonic() - start
            print(f"{suffix}: {number} read, {refused} refused, {errors.total()} unforeseen, {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
