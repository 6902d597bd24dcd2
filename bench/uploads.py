"""Measure the memory of `kgrag serve` after a thousand uploads.

    python bench/uploads.py
    python bench/uploads.py --documents 60 --most 20                    a try-out

Neo4j and `kgrag serve` run in a temporary folder. Small documents of five formats are sent over REST, each by its own
request and job. The memory is measured on the server process, without its job processes, when all jobs so far have
ended. Exits with 1 if the memory is more than `--most` MB above the start.
"""

import argparse
import io
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import docx
import httpx
import psutil
from load import Served
from reportlab.pdfgen.canvas import Canvas

from kgrag.graph.local.server import LocalServer
from kgrag.server.keys import Keys
from kgrag.settings import Settings

LOOKS = (100, 500)  # documents after which memory is sampled, besides the end
WAITING = 20  # limit of pending jobs
_COLLECTION = "uploads"


def word(title: str, text: str) -> bytes:
    """Return a Word document."""
    file, out = docx.Document(), io.BytesIO()
    file.add_heading(title, 1)
    file.add_paragraph(text)
    file.save(out)
    return out.getvalue()


def pdf(title: str, text: str) -> bytes:
    """Return a PDF of one page."""
    out = io.BytesIO()
    canvas = Canvas(out)
    for number, line in enumerate((title, *text.split(". "))):
        canvas.drawString(70, 750 - 20 * number, line)
    canvas.save()
    return out.getvalue()


FORMATS: dict[str, Callable[[str, str], bytes]] = {
    "md": lambda title, text: f"# {title}\n\n{text}\n".encode(),
    "html": lambda title, text: f"<html><title>{title}</title><body><p>{text}</p></body></html>".encode(),
    "csv": lambda title, text: f'title,text\n"{title}","{text}"\n'.encode(),
    "docx": word,
    "pdf": pdf,
}


def document(number: int) -> tuple[str, bytes]:
    """Return a document's name and content."""
    suffix = list(FORMATS)[number % len(FORMATS)]
    text = (
        f"Boat {number} was built in Larvik by Nils Holm {number // 7}. She sailed to Port {number % 31} for coal. " * 4
    )
    return f"boats/{number}.{suffix}", FORMATS[suffix](f"Boat {number}", text.strip())


class Uploader:
    """Uploads documents, and waits for their jobs."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._jobs: list[str] = []

    def upload(self, number: int) -> None:
        """Upload a document when few jobs are pending."""
        self.settle(WAITING - 1)
        files = [("files", document(number))]
        self._jobs.append(self._reply("POST", f"collections/{_COLLECTION}/documents", files=files)["id"])

    def settle(self, left: int = 0) -> None:
        """Wait until at most `left` jobs are pending. Raises SystemExit if one has failed."""
        while len(self._jobs) > left:
            job = self._reply("GET", f"jobs/{self._jobs[0]}")
            if job["state"] in ("queued", "running"):
                time.sleep(0.2)
            elif job["state"] != "done" or job["result"]["added"] != 1:
                raise SystemExit(f"A job did not end well: {job}")
            else:
                del self._jobs[0]

    def _reply(self, method: str, path: str, **given: object) -> dict[str, object] | dict[str, dict[str, object]]:
        return self._http.request(method, path, **given).raise_for_status().json()


def measure(documents: int, settings: Settings) -> dict[int, float]:
    """Return the server's MB by number of uploaded documents."""
    key = Keys.of(settings).add("uploads", "write")
    env = {"KGRAG_SERVE__RATE": "1000000"}
    with Served(settings, env) as server:
        process = psutil.Process(server.process.pid)
        found = {0: process.memory_info().rss / 1e6}
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}/api/v1", headers=headers, timeout=150) as http:
            uploader = Uploader(http)
            begun = time.monotonic()
            for number in range(1, documents + 1):
                uploader.upload(number)
                if number in (*LOOKS, documents):
                    uploader.settle()
                    found[number] = process.memory_info().rss / 1e6
                    print(f"  {number:5,} documents after {time.monotonic() - begun:.0f} s", flush=True)
    return found


def main() -> None:
    """Measure, and exit with 1 if the server has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--most", type=float, default=50.0, metavar="MB", help="that the server may have grown")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="kgrag-uploads-"))
    settings = Settings(_env_file=None, neo4j_uri=None, home=home)  # type: ignore[call-arg]
    local = LocalServer(settings)
    try:
        local.ensure_running()
        found = measure(options.documents, settings)
    finally:
        local.stop()
        shutil.rmtree(home, ignore_errors=True)
    print("documents      MB   grown")
    for number, used in found.items():
        print(f"{number:9,} {used:7.1f} {used - found[0]:+7.1f}")
    print("load of this machine over 1, 5 and 15 minutes:", *(f"{value:.1f}" for value in os.getloadavg()))
    if found[options.documents] - found[0] > options.most:
        raise SystemExit(f"More than {options.most:g} MB.")


if __name__ == "__main__":
    main()
