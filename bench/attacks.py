"""Run two hundred attacks on `kgrag serve` by key holders, beside one user who searches every second.

    python bench/attacks.py                     in KGRAG_HOME, whose server is started
    python bench/attacks.py --threads 4 --seed 2

Each attack is one or several requests that ask for too much: huge numbers, texts of one character, deep markup, archive
bombs, endless statements, bodies that never come, sockets that stay open. They run on several threads in random order.
Prints the replies, the search times meanwhile, the web process's memory, and whether the web process and Neo4j
survived. Exits with 1 if one of them did not, if any reply was 500, or if a search failed or took 2 s at its 95th
percentile.
"""

import argparse
import io
import json
import random
import socket
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import httpx
import numpy as np
import psutil
from ingest import resolved
from load import Served, looking
from serving import spread

from kgrag import KnowledgeGraph
from kgrag.demo import COLLECTION, corpus
from kgrag.graph.local.server import LocalServer
from kgrag.server.keys import Keys
from kgrag.settings import Settings

NAMES = ("canary", "attacker", "analyst", "writer")
TARGET = "attacked"
PATIENCE = 90.0  # seconds that an attacker waits for a reply
LIMIT = 2.0  # the largest 95th percentile of the search times, in seconds
QUESTION = "Who designed the Fram?"

Attack = Callable[[], str]


class Attacker:
    """Attacks a server; each method returns the replies."""

    def __init__(self, port: int, tokens: dict[str, str]) -> None:
        self.port = port
        self._http = {
            name: httpx.Client(
                base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
            )
            for name, token in tokens.items()
        }
        self._http[""] = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)

    def attacks(self) -> Iterator[tuple[str, Attack]]:
        """Yield all attacks, each with its kind."""
        place = f"/api/v1/collections/{COLLECTION}"
        for retriever in _RETRIEVERS:
            yield "numbers", self._post("attacker", f"{place}/search", {"question": QUESTION, "retriever": retriever})
        for k in (10**3, 10**6, 10**9, 2**63, -1, 1e300):
            yield "numbers", self._post("attacker", f"{place}/search", {"question": QUESTION, "k": k})
            yield "numbers", self._post("attacker", f"{place}/ask", {"question": QUESTION, "k": k})
        for sign in "[({<\"'_*#=~-.$`|\\@":
            for many in (3_000, 30_000, 200_000):
                yield "signs", self._text(f"signs{many}.md", sign * many)
        for name, text in _deep():
            yield "deep markup", self._text(name, text)
        for name, data in _archives():
            yield "archives", self._file(name, data)
        for statement in _STATEMENTS:
            yield "Cypher", self._post("analyst", "/api/v1/cypher", {"statement": statement})
        for question in (
            "oslo? " * 1_600,
            "ship " * 1_900,
            "[" * 9_999,
            "Fram Nansen Amundsen Oslo " * 380,
            "\u202e" * 9_000,
            "é" * 10_000,
        ):
            for verb in ("search", "ask", "look-up"):
                yield "questions", self._post("attacker", f"{place}/{verb}", {"question": question})
        for only in _FILTERS:
            yield "filters", self._post("attacker", f"{place}/search", {"question": QUESTION, "filter": only})
        for name, value in _PARAMETERS:
            path = f"{place}/queries/{name}"
            yield "saved queries", self._post("attacker", path, {"parameters": value})
        for _ in range(8):
            yield "at once", self._burst("attacker", f"{place}/search", {"question": QUESTION}, 40)
            yield "at once", self._burst("analyst", "/api/v1/cypher", {"statement": _STATEMENTS[0]}, 12)
        for path in ("/login", f"{place}/search", f"{place}/documents", "/mcp", "/v1/chat/completions"):
            for many in (10**7, 10**8):
                yield "large bodies", self._body(path, many)
            yield "sockets", partial(self._slow, path, 60)
            yield "sockets", partial(self._idle, 100)

    def search(self) -> int:
        """Run the search of the legitimate user, and return its status."""
        asked = {"question": QUESTION}
        return self._http["canary"].post(f"/api/v1/collections/{COLLECTION}/search", json=asked).status_code

    def _post(self, who: str, path: str, form: dict[str, object]) -> Attack:
        return lambda: self._said(who, path, content=json.dumps(form).encode(), headers={"Content-Type": _JSON})

    def _text(self, name: str, text: str) -> Attack:
        return self._post("writer", f"/api/v1/collections/{TARGET}/texts", {"texts": [{"name": name, "text": text}]})

    def _file(self, name: str, data: bytes) -> Attack:
        path = f"/api/v1/collections/{TARGET}/documents"
        return lambda: self._said("writer", path, files=[("files", (name, data))])

    def _burst(self, who: str, path: str, form: dict[str, object], many: int) -> Attack:
        def all_at_once() -> str:
            with ThreadPoolExecutor(many) as threads:
                said = Counter(threads.map(lambda _: self._post(who, path, form)(), range(many)))
            return ", ".join(f"{number} {status}" for status, number in sorted(said.items()))

        return all_at_once

    def _body(self, path: str, many: int) -> Attack:
        def parts() -> Iterator[bytes]:
            for _ in range(many // 10**6):
                yield b"x" * 10**6

        return lambda: self._said(
            "", path, content=parts(), headers={"Content-Type": "multipart/form-data; boundary=x"}
        )

    def _said(self, who: str, path: str, **given: object) -> str:
        try:
            return str(self._http[who].post(path, **given).status_code)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            return type(error).__name__

    def _slow(self, path: str, seconds: float) -> str:
        """Send a body at one byte a second."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\nContent-Type: {_JSON}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port)) as line:
            line.sendall(head.encode())
            line.settimeout(1)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                with suppress(TimeoutError):
                    return [*line.recv(100).split(b" "), b"", b"closed"][1].decode() or "closed"
                try:
                    line.sendall(b" ")
                except OSError:
                    return "closed"
        return "still open"

    def _idle(self, many: int) -> str:
        """Open connections that stay silent."""
        lines = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(many)]
        time.sleep(20)
        for line in lines:
            line.close()
        return "opened"


_JSON = "application/json"
_RETRIEVERS = [
    *(f"dense(over_fetch={n})" for n in (10**5, 10**8, 10**12)),
    *(f"pathrank({name}={n})" for name in ("cap", "seeds", "names", "places") for n in (10**4, 10**9)),
    *(f"ppr({name}={n})" for name in ("iterations", "damping") for n in (10**9, -1)),
    *(f"naive-ge(bm25, {name}={n})" for name in ("beams", "length", "candidates") for n in (10**6, 10**12)),
    *(f"{'rrf(' * n}bm25{')' * n}" for n in (5, 50, 200)),
    *(f"bm25 % {n}" for n in (10**6, 10**12)),
]
_FILTERS: list[dict[str, object]] = [
    {"where": {f"key{i}": i for i in range(3_000)}},
    {"where": {"year": [None, None], "x" * 30_000: 1}},
    {"where": {"year": ["a" * 30_000, 1]}},
    {"where": {"year": [1e308, -1e308]}},
    {"source": "x" * 60_000},
    {"source": "\x00"},
    {"since": "9999-12-31T23:59:59"},
    {"since": "0001-01-01T00:00:00+14:00"},
]
_PARAMETERS: list[tuple[str, dict[str, object]]] = [
    ("around", {"edges": 10**9}),
    ("around", {"edges": -1}),
    ("beam_search", {"query": "ship " * 10_000, "beams": 10**6, "cap": 10**9}),
    ("beam_search", {"beams": 2**63 - 1}),
    ("changes", {"since": "x" * 50_000, "limit": 10**12}),
    ("changes", {"limit": 0}),
    ("names", {"name": "*" * 10_000}),
    ("names", {"name": "a~ " * 3_000}),
    ("names", {"name": "(" * 5_000}),
]
_STATEMENTS = [
    "UNWIND range(1, 1000000000) AS i RETURN count(i)",
    "UNWIND range(1, 100000000) AS i RETURN collect(i)",
    "MATCH (a), (b), (c) RETURN count(*)",
    "MATCH p = (a)-[*1..12]-(b) RETURN count(p)",
    "MATCH (a:Passage), (b:Passage), (c:Passage) RETURN a.text + b.text + c.text ORDER BY rand()",
    "RETURN reduce(s = 'x', i IN range(1, 40) | s + s) AS s",
    "MATCH (p:Passage) WHERE p.text =~ '(a+)+(b+)+(x+x+)+y' RETURN count(p)",
    "UNWIND range(1, 3000) AS i UNWIND range(1, 3000) AS j RETURN i, j, rand() AS r ORDER BY r",
    f"RETURN {'[' * 2_000}1{']' * 2_000}",
    f"RETURN {' + '.join(['1'] * 20_000)} AS n",
    f"MATCH {', '.join(f'(n{i})' for i in range(30))} RETURN count(*)",
    "CALL { MATCH (a), (b) RETURN a, b } RETURN count(DISTINCT a.text + b.text)",
    "RETURN '" + "x" * 1_000_000 + "' AS x",
]


def _deep() -> Iterator[tuple[str, str]]:
    yield "bold.html", "<b>x" * 500_000
    yield "divs.html", "<div>" * 300_000
    yield "tables.html", "<table><tr><td>" * 50_000
    yield "spans.html", "<table><tr><td rowspan=65000 colspan=1000>x" + "<tr><td>y" * 5_000
    yield "quotes.md", "> " * 100_000 + "x"
    yield "lists.md", "".join(f"{'  ' * n}- x\n" for n in range(1_500))
    yield "links.md", "[a](" * 200_000
    yield "table.md", "|".join("x" * 100_000) + "\n" + "|".join("-" * 100_000)
    yield "nested.rst", "".join(f"{' ' * n}* x\n\n" for n in range(1_500))
    yield "deep.json", "[" * 200_000 + "]" * 200_000
    yield "wide.csv", ",".join(f"c{i}" for i in range(100_000)) + "\n" + ",".join("1" * 100_000)
    yield "quote.csv", 'a,b\n"' + "x" * 3_000_000
    yield "line.txt", "x" * 5_000_000
    yield "words.txt", "word " * 1_000_000
    yield "names.txt", "".join(f"Name{i} Other{i} met Person{i}. " for i in range(100_000))


def _archives() -> Iterator[tuple[str, bytes]]:
    """Yield office files, e-books and archives that expand to huge sizes."""
    head = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    paragraphs = head + b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 420_000 + b"</w:body></w:document>"
    entity = (
        b"<!DOCTYPE a [<!ENTITY a 'xxxxxxxxxx'>"
        + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10 if n else b"&a;" * 10) for n in range(9))
        + b"]><a>&a8;</a>"
    )
    for ending in ("docx", "xlsx", "pptx", "odt", "epub"):
        for part, data in (("word/document.xml", paragraphs), ("content.xml", entity), ("x", b"\0" * 200_000_000)):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr("[Content_Types].xml", b"<Types/>")
                packed.writestr(part, data)
            yield f"{len(data)}.{ending}", file.getvalue()
    yield (
        "cut.pdf",
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[2 0 R]/Count 99999999>>endobj",
    )


def beside(attacker: Attacker, over: threading.Event, times: list[float], failed: Counter[str]) -> None:
    """Search once a second until the attacks are over."""
    while not over.wait(1):
        begun = time.perf_counter()
        try:
            status = str(attacker.search())
        except httpx.HTTPError as error:
            status = type(error).__name__
        times.append(1000 * (time.perf_counter() - begun))
        if status != "200":
            failed[status] += 1


def main() -> None:
    """Run the attacks, and exit with 1 if they did harm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    settings = Settings()
    local = LocalServer(settings)
    with KnowledgeGraph.connect(settings=resolved(settings)) as kg:
        with corpus() as demo:
            kg[COLLECTION].ingest(demo, root=demo)
        keys = Keys.of(settings)
        for key in keys.kept():
            if key.name in NAMES:
                keys.remove(key.name)
        tokens = {name: keys.add(name, "write" if name == "writer" else "read") for name in NAMES}
        database = local.status().pid
        with Served(settings, {}) as server:
            attacker = Attacker(server.port, tokens)
            web, begun = server.process.pid, time.monotonic()
            calm: list[float] = []
            over, times, failed = threading.Event(), list[float](), Counter[str]()
            threading.Timer(20, over.set).start()
            beside(attacker, over, calm, failed)
            over.clear()
            server.look()
            watching = threading.Thread(target=beside, args=(attacker, over, times, failed))
            watching.start()
            attacks = list(attacker.attacks())
            random.Random(options.seed).shuffle(attacks)
            with looking(server, 1), ThreadPoolExecutor(options.threads) as threads:
                answers = Counter(
                    zip((kind for kind, _ in attacks), threads.map(lambda a: a[1](), attacks), strict=True)
                )
            over.set()
            watching.join()
            for job in httpx.get(
                f"http://127.0.0.1:{server.port}/api/v1/jobs", headers={"Authorization": f"Bearer {tokens['writer']}"}
            ).json()["jobs"]:
                answers["jobs", job["state"]] += 1
            server.look()
            alive = server.process.poll() is None and psutil.pid_exists(web)
        same = local.status().pid == database
    for (kind, said), number in sorted(answers.items()):
        print(f"  {number:4} {kind}: {said}")
    print(f"{len(attacks)} attacks in {time.monotonic() - begun:.0f} s")
    print(f"search alone        {spread(calm)}")
    print(
        f"search beside them  {spread(times)}  most {max(times):.0f} ms, of {len(times)}; not answered: {dict(failed)}"
    )
    used = [mb for _, mb in server.memory]
    print(
        f"web process: {'the same' if alive else 'ANOTHER'}, {used[0]:.0f} MB at first, {max(used):.0f} at most, "
        f"{used[-1]:.0f} at last"
    )
    print(f"Neo4j: {'the same' if same else 'ANOTHER'}")
    broken = any("500" in said for _, said in answers)
    if failed or broken or not (alive and same) or np.quantile(times, 0.95) >= 1000 * LIMIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
