"""An analyst in Neo4j Browser, who connects, runs Cypher, looks at the graph and clicks a node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_SETTLED = """
frame => {
    const places = [...frame.querySelectorAll('g.node')].map(node => node.getAttribute('transform')).join();
    const settled = places === frame.dataset.places;
    frame.dataset.places = places;
    return settled;
}
"""


def reads_as(caption: str, name: str) -> bool:
    """Return whether a caption is a name as Browser draws it: the words that fit the circle, the last one cut."""
    words = caption.removesuffix("…").split()
    return bool(words) and re.search(".*".join(map(re.escape, words)), " ".join(name.split())) is not None


class QueryFailed(Exception):
    """Neo4j Browser shows an error instead of a graph."""


class Analyst:
    """A page with Neo4j Browser, which stacks its answers in frames, the newest first."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def guide(self) -> Locator:
        """The slides of the guide in the first frame."""
        return self.page.get_by_test_id("frame").filter(has_text="1. What is in here")

    @property
    def drawer(self) -> Locator:
        """The guide in the sidebar."""
        return self.page.get_by_test_id("guidesDrawer")

    @property
    def frame(self) -> Locator:
        """The newest answer."""
        return self.page.get_by_test_id("frame").first

    def connect(self, address: str, password: str) -> None:
        """Open Neo4j Browser with the connection filled in, type the password and connect; a guide appears."""
        self.page.goto(address)
        self.page.get_by_test_id("password").fill(password)
        self.page.get_by_test_id("connect").click()
        self.page.get_by_text("Connected to Neo4j").wait_for()
        self.guide.wait_for()

    def enter(self, text: str) -> None:
        """Type a query or a command of Browser, run it and wait for its frame."""
        frames = self.page.get_by_test_id("frame").count()
        self.page.get_by_test_id("activeEditor").locator(".monaco-editor").first.click()
        self.page.keyboard.insert_text(text)
        self.page.get_by_test_id("editor-Run").click()
        self.page.get_by_test_id("frame").nth(frames).wait_for()

    def run(self, cypher: str) -> None:
        """Run a query and wait until its graph fills the window and stops moving. Raises QueryFailed."""
        self.enter(cypher)
        self.wait_for_graph()
        self.frame.get_by_title("Fullscreen").click()
        while not self.frame.evaluate(_SETTLED):
            self.page.wait_for_timeout(500)
        self.frame.get_by_label("zoom-to-fit").click()

    def wait_for_graph(self) -> None:
        """Wait until the newest frame draws a graph. Raises QueryFailed."""
        error = self.page.get_by_test_id("cypherFrameErrorMessage")
        self.frame.locator("g.node").or_(error).first.wait_for()
        if error.count():
            raise QueryFailed(self.frame.inner_text())

    def slides(self) -> Iterator[str]:
        """Show the guide in the sidebar and yield the title of each slide, from the first on."""
        self.guide.get_by_text("Keep the guide beside the results").click()
        title, further = self.drawer.locator("h3"), self.page.get_by_test_id("guideNextSlide")
        while True:
            shown = title.inner_text()
            yield shown
            if not further.is_enabled():
                return
            further.click()
            self.drawer.locator("h3").filter(has_not_text=shown).wait_for()

    def play(self) -> None:
        """Click the triangle before the slide's query, and wait for its graph."""
        frames = self.page.get_by_test_id("frame").count()
        self.drawer.locator("pre.runnable .fa-play-circle-o").click()
        self.page.get_by_test_id("frame").nth(frames).wait_for()
        self.wait_for_graph()

    def colours(self) -> dict[str, str]:
        """Return the colour of each circle by the node's number."""
        return {
            (node.get_attribute("aria-label") or "").removeprefix("graph-node"): str(
                node.locator("circle.b-outline").get_attribute("fill")
            )
            for node in self.frame.locator("g.node").all()
        }

    def captions(self) -> dict[str, str]:
        """Return the text in each circle by the node's number; a space joins its lines."""
        return {
            (node.get_attribute("aria-label") or "").removeprefix("graph-node"): _text(node)
            for node in self.frame.locator("g.node").all()
        }

    def overview(self) -> str:
        """Return the panel beside the graph: labels, types and their counts."""
        return self.frame.get_by_test_id("vizInspector").inner_text()

    def click(self, number: str) -> str:
        """Click a node and return the panel, which now shows its properties."""
        self.frame.locator(f"g.node[aria-label='graph-node{number}'] circle.b-outline").click()
        self.frame.get_by_text("Node properties").wait_for()
        return self.overview()

    def screenshot(self, path: Path) -> None:
        """Save a screenshot once nothing moves."""
        self.page.wait_for_timeout(1000)
        self.page.screenshot(path=path)
        print(f"Screenshot: {path}")


def _text(element: Locator) -> str:
    return " ".join(" ".join(element.locator("text").all_text_contents()).split())
