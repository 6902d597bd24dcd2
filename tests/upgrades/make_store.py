"""The store that an older version of kgrag makes: its own Neo4j with collections of every kind, stopped.

    python tests/upgrades/make_store.py COMMIT FOLDER

takes the version from the history, installs it with the dependencies that it had, and has it ingest, import and keep
what `Store` names. FOLDER/home is its KGRAG_HOME afterwards, FOLDER/store.json says what it held, FOLDER/probe.jsonl.gz
is its export of exports/corpus.jsonl. Beside FOLDER lie what all versions share: the environment and the documents.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from scripted import Scripted

ROOT = Path(__file__).parents[2]
EXTRAS = "local,pdf,tree,communities"
QUESTION = "Which river runs through the home town of the designer of the Fram?"
COLLECTIONS = ("demo", "hafen", "probe", "werften")
CORPUS = Path(__file__).parent / "exports" / "corpus.jsonl"
GERMAN = {"KGRAG_INDEXING__LANGUAGE": "de"}

_SHIPS = {
    "skibladner": """---
title: Skibladner
date: 1856-08-02
tags: [Raddampfer, Mjøsa]
sizes: [50, 206]
mixed: [1856, "Eisen"]
---
# Skibladner

Die Skibladner ist ein Raddampfer auf dem See Mjøsa. Sie wurde von Motala Verkstad in Schweden gebaut und 1856 in Dienst
gestellt. Der Dampfer fährt z. B. von Eidsvoll nach Hamar und Lillehammer.

| Hafen | Kilometer | Aufenthalt |
|---|---:|---|
| Eidsvoll | 0 | 30 Minuten |
| Hamar | 62 | 45 Minuten |
| Gjøvik | 80 | 10 Minuten |
""",
    "motala": """---
title: Motala Verkstad
date: 1822-01-01
tags: [Werft]
---
# Motala Verkstad

Die Werft Motala Verkstad wurde 1822 von Baltzar von Platen gegründet. Sie liegt in der Stadt Motala am Göta-Kanal. Dort
entstanden Dampfmaschinen, Brücken und die Skibladner.
""",
    "platen": """---
title: Baltzar von Platen
---
# Baltzar von Platen

Baltzar von Platen war Graf, Seeoffizier und Staatsmann. Er wurde auf Rügen geboren und leitete den Bau des Göta-Kanals,
der die Ostsee mit dem Kattegat verbindet. Sein Grab liegt in Motala. Er
war ein Mann der Ordnung.
""",
}
_FACTS = """subject,predicate,object
Skibladner,gebaut von,Motala Verkstad
Motala Verkstad,gegründet von,Baltzar von Platen
Baltzar von Platen,geboren auf,Rügen
"""
_PAGES = (
    ("Der Göta-Kanal", "Der Göta-Kanal führt von Sjötorp nach Mem.", "Er hat achtundfünfzig Schleusen."),
    ("Die Schleusen", "Die größte Schleusentreppe liegt bei Berg.", "Thomas Telford entwarf sie mit Platen."),
)


@dataclass(frozen=True)
class Store:
    """What a version held: of each collection a hash for each kind of node, and what else is compared afterwards.

    `rankings`: titles of the searches that `rankings()` names; `runs`: ids of kept runs; `keys`: names of keys.
    """

    commit: str
    version: str
    schema: int
    digests: Mapping[str, Mapping[str, str]]
    rankings: Mapping[str, list[str]]
    runs: list[str]
    keys: list[str]


def write_documents(shared: Path) -> Path:
    """German documents: three in Markdown, one with a table, lists of metadata and dates, and a PDF of two pages.

    Those that are there stay, since a file is known by its time, too.
    """
    documents = shared / "documents"
    if documents.exists():
        return documents
    documents.mkdir(parents=True)
    for name, text in _SHIPS.items():
        (documents / f"{name}.md").write_text(text, "utf-8")
    canvas = Canvas(str(documents / "kanal.pdf"), pagesize=A4, invariant=True)
    for title, *lines in _PAGES:
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawString(70, 760, title)
        canvas.setFont("Helvetica", 11)
        for number, line in enumerate(lines):
            canvas.drawString(70, 730 - 15 * number, line)
        canvas.showPage()
    canvas.save()
    (shared / "facts.csv").write_text(_FACTS, "utf-8")
    return documents


class Kgrag:
    """The command `kgrag` of an environment, over a home of its own."""

    def __init__(self, command: Path, home: Path, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGRAG_", "PYTHON"))}
        cache = {name: value for name, value in os.environ.items() if name == "KGRAG_CACHE"}
        self.command = [str(command)]
        self.environment = kept | cache | {"KGRAG_HOME": str(home), "KGRAG_OLD_VECTORS_SECONDS": "0"} | environment

    def __call__(self, *arguments: str | Path, check: bool = True, **environment: str) -> str:
        """What it prints; its errors go where ours do. Raises CalledProcessError."""
        done = self.run(*arguments, **environment)
        if check and done.returncode:
            raise RuntimeError(f"kgrag {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run(self, *arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        """How it ended, whatever it did."""
        return subprocess.run(
            [*self.command, *map(str, arguments)],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *arguments: str | Path) -> Any:
        """What it prints as JSON."""
        return json.loads(self(*arguments, "--json"))


def rankings(kgrag: Kgrag) -> dict[str, list[str]]:
    """Titles that searches rank, by collection, retriever and question."""
    asked = (
        ("demo", "pathrank", QUESTION),
        ("demo", "hybrid", "Who led the expedition to the South Pole?"),
        ("hafen", "pathrank", "Wer gründete die Werft, die den Raddampfer Skibladner baute?"),
        ("hafen", "bm25", "Wie lange ist der Aufenthalt in Hamar?"),
        ("hafen", "dense", "Schleusen des Göta-Kanals"),
    )
    found = {}
    for collection, retriever, question in asked:
        ranking = kgrag.json("search", question, "-c", collection, "-r", retriever, "-k", "5")
        found[f"{collection}, {retriever}: {question}"] = [hit["passage"]["title"] for hit in ranking["hits"]]
    return found


def fill(kgrag: Kgrag, shared: Path) -> None:
    """Make the collections: `demo` with a tree and communities, `hafen` and `probe` in German, the facts `werften`."""
    kgrag("demo")
    kgrag("ingest", write_documents(shared), "-c", "hafen", **GERMAN)
    kgrag("ingest", CORPUS, "-c", "probe", **GERMAN)
    kgrag("import-triples", shared / "facts.csv", "-c", "werften", "--language", "de")
    kgrag("tree", "demo")
    kgrag("communities", "demo")


def keep(kgrag: Kgrag) -> None:
    """Keep a search, an answer and a key."""
    kgrag("search", "Skibladner", "-c", "hafen", "--save")
    with Scripted() as model:
        model.say("answer", "The Fram was designed by Colin Archer of Larvik [1].")
        model.say("other", "The Fram was designed by Colin Archer of Larvik [1].")
        kgrag("ask", QUESTION, "-c", "demo", "-s", "single", "--save", "-q", **model.env())
    kgrag("keys", "add", "reader", "--role", "read", "-c", "hafen")


def make_store(commit: str, folder: Path) -> Store:
    """Have a version make its store in `folder`, unless that is done."""
    made = folder / "store.json"
    if made.exists():
        return Store(**json.loads(made.read_text()))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
    kgrag = Kgrag(_installed(source, folder.parent / "env"), folder / "home")
    try:
        fill(kgrag, folder.parent)
        keep(kgrag)
        kgrag("export", folder / "probe.jsonl.gz", "-c", "probe")
        store = Store(
            commit=commit,
            version=kgrag("--version").split()[-1],
            schema=_schema(source),
            digests={name: kgrag.json("digest", name) for name in COLLECTIONS},
            rankings=rankings(kgrag),
            runs=sorted(run["id"] for run in kgrag.json("runs")),
            keys=[key["name"] for key in kgrag.json("keys", "list")],
        )
    finally:
        kgrag("down", check=False)
    made.write_text(json.dumps(asdict(store), ensure_ascii=False, indent=1), "utf-8")
    return store


def _installed(source: Path, environment: Path) -> Path:
    """The command of a version that was installed with the dependencies of its day."""
    binaries = environment / "bin"
    if not binaries.exists():
        venv.create(environment, with_pip=True)
    pip = (str(binaries / "python"), "-m", "pip", "--disable-pip-version-check", "-q", "install")
    constraints = ("-c", str(source / "constraints.txt"))
    subprocess.run([*pip, *constraints, f"{source}[{EXTRAS}]"], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(source)], check=True)  # two may have one number
    return binaries / "kgrag"


def _schema(source: Path) -> int:
    found = re.search(r"^SCHEMA_VERSION = (\d+)$", (source / "kgrag/graph/schema.py").read_text(), re.MULTILINE)
    assert found
    return int(found[1])


if __name__ == "__main__":
    print(make_store(sys.argv[1], Path(sys.argv[2])))
