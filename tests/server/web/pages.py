"""`kgrag serve` as a process of its own, and visitors who look at its pages in Chromium."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHIPS, LETTERS = "ships & <b>boats", "letters"
QUESTION = "Where was the designer of the Aurora born?"
DESIGNED = "The schooner Aurora was designed by Ingrid Solheim, who was born in Molde in 1861."
HOSTILE = "Solheim kept <script>document.title = 'broken'</script> **notes** and [links](javascript:alert(1))."
"""Names of the collections of every test here, and sentences of their documents."""

_NARROW, _WIDE = (390, 844), (1280, 900)


class Application:
    """The server, on any free port."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kgrag", "serve", "--port", "0", "--quiet"],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"http://\S+", line):
                self.url = found[0]
                self._wait()
                return self
        raise AssertionError("the server ended")

    def _wait(self) -> None:
        """Wait until the server responds."""
        while self._process.poll() is None:
            try:
                httpx.get(f"{self.url}/healthz", trust_env=False)
                return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError("the server ended")

    def kill(self) -> None:
        """Kill the process without a clean-up."""
        self._process.kill()

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)


class Visitor:
    """A visitor with a separate browser. `wrong` records console errors and requests to other hosts."""

    def __init__(self, chromium: Browser, url: str, *, narrow: bool = False, dark: bool = False) -> None:
        width, height = _NARROW if narrow else _WIDE
        self._context = chromium.new_context(
            permissions=["clipboard-read", "clipboard-write"],
            viewport={"width": width, "height": height},
            locale="en-US",
            color_scheme="dark" if dark else "light",
        )
        self._url = url
        self.wrong: list[str] = []
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda said: self._heard(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self._check(asked.url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def _heard(self, text: str) -> None:
        """Record a console error, except for refused requests, which Chromium logs each time."""
        if not re.match(r"Failed to load resource: the server responded with a status of 4\d\d", text):
            self.wrong.append(text)

    def _check(self, asked: str) -> None:
        if not asked.startswith((self._url, "data:", "blob:", self._url.replace("http", "ws", 1))):
            self.wrong.append(f"a request to {asked}")

    def go(self, place: str) -> None:
        """Open an address of the application."""
        self.page.goto(f"{self._url}{place}")

    def settle(self) -> None:
        """Wait until the page is complete and nothing moves."""
        self.page.locator("#main > *").first.wait_for(state="attached")
        self.page.locator(".spinner").first.wait_for(state="detached")
        self.page.wait_for_load_state("networkidle")

    def ask(self, question: str, collection: str | None = None, how: str | None = None) -> None:
        """Ask on the open page, or a new one about a collection; `how`: Fast, Thorough, Search only."""
        if collection is not None:
            self.go(f"/?collection={quote(collection)}")
        if how is not None:
            self.page.get_by_label("How it is answered").select_option(how)
        self.page.get_by_label("Question", exact=True).fill(question)
        self.page.get_by_label("Question", exact=True).press("Enter")

    def upload(self, collection: str, *paths: Path, by: str = "Choose files") -> None:
        """Choose files for a new collection, or one folder by "Choose a folder"."""
        self.go("/library?tab=collections")
        self.page.get_by_role("button", name="New collection").click()
        place = self.page.get_by_role("region", name="New collection")
        place.get_by_label("Collection").fill(collection)
        with self.page.expect_file_chooser() as chosen:
            place.get_by_role("button", name=by).click()
        chosen.value.set_files(paths)

    def log_in(self, token: str) -> None:
        """Log in with a key."""
        self.go("/")
        self.page.get_by_label("Your key").fill(token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.locator("#side a.page").first.wait_for(state="attached")


Visit = Callable[..., Visitor]
"""Opens a browser."""


def print_pdf(chromium: Browser, path: Path, html: str, **options: Any) -> Path:
    """Return a PDF of some HTML, on pages of A5; `options` of Playwright's `page.pdf`."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.set_content(f"<!doctype html>{html}")
        page.pdf(path=path, format="A5", **options)
    return path
