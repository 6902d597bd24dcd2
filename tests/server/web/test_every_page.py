"""Every page in every state, wide and narrow, light and dark: it fits the window, and is accessible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from pages import DESIGNED, LETTERS, QUESTION, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.server.keys import Keys

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

_C, _P = quote(SHIPS), quote(SHIPS, safe="")
_PLACES = {
    "ask": f"/?collection={_C}", "answer": "/ask/{talk}", "found": "/ask/{found}",
    "documents": f"/library?collection={_C}", "problems": f"/library?collection={_C}&tab=problems",
    "work": f"/library?collection={_C}&tab=work", "names": f"/library?collection={_C}&tab=names",
    "collections": "/library?tab=collections", "document": f"/document/{_P}/{{document}}",
    "passage": f"/passage/{_P}/{{passage}}", "map": f"/graph?collection={_C}",
    "graph": f"/graph?collection={_C}&name=Ingrid+Solheim", "keys": "/admin", "jobs": "/admin?tab=jobs",
    "health": "/admin?tab=health", "opinions": "/admin?tab=opinions", "spending": "/admin?tab=spending",
    "login": "/login", "nothing": "/nothing",
}  # fmt: skip

_EMPTY = ("/", "/library", "/library?tab=names", "/library?tab=work", "/library?tab=collections", "/graph")


@pytest.fixture(scope="module")
def made(kg: KnowledgeGraph, application: Application, scripted_server: Scripted) -> dict[str, str]:
    """Parts of addresses: an answer, a search, a passage and its document."""
    import httpx

    scripted_server.say("answer", "**In Molde** [1], in `1861` [1].\n\n| a | b |\n|---|---|\n| c [1] | d |")
    ranking = kg[SHIPS].search(QUESTION)
    talks = []
    with httpx.Client(base_url=application.url, trust_env=False, timeout=60) as client:
        for how in ({"system": "single+pathrank"}, {"retriever": "pathrank"}):
            turn = client.post("/api/v1/turns", json={"collections": [SHIPS], "question": QUESTION, **how}).json()
            client.get(f"/api/v1/turns/{turn['id']}/events")
            talks.append(turn["conversation"])
    passage = next(hit.passage for hit in ranking if DESIGNED in hit.passage.text)
    document = quote(passage.document, safe="")
    return {"talk": talks[0], "found": talks[1], "passage": passage.id, "document": document}


def _wrong(page: Any, axe: Any, name: str) -> list[Any]:
    """Return the faults of a page: it is wider than the window, or is not accessible."""
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [(name, "too wide", wide)] * (wide > 0) + [
        (name, its["id"], its["nodes"][0]["html"][:300], its["nodes"][0]["failureSummary"])
        for its in axe.run(page).response["violations"]
        if its["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_every_page_fits_and_can_be_read_out(
    visit: Visit, made: dict[str, str], narrow: bool, dark: bool, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe  # the tests without a browser lack it

    page, axe = (visitor := visit(narrow=narrow, dark=dark)).page, Axe()
    found = []
    for name, place in _PLACES.items():
        visitor.go(place.format(**made))
        if name != "login":
            visitor.settle()
        if name == "answer":
            page.get_by_role("button", name="Source 1").first.click()
            page.get_by_role("region", name="Sources").get_by_text("Page 3 of 8").wait_for()
        page.screenshot(path=tmp_path / f"{name}.png")
        assert not page.get_by_role("alert").count(), (place, page.get_by_role("alert").inner_text())
        found += _wrong(page, axe, name)
    print(f"Screenshots: {tmp_path}")
    assert found == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_every_state_fits_and_can_be_read_out(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], narrow: bool, dark: bool, tmp_path: Path
) -> None:
    """States: no model and no rights, nothing there, an error, and no server."""
    from axe_playwright_python.sync_playwright import Axe

    axe, found, keys = Axe(), [], Keys(tmp_path / "keys.json")
    reads, nobody = keys.add("reads", "read", [LETTERS]), keys.add("nobody", "read", ["not there"])
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served:
        for token, name in ((reads, "reader"), (nobody, "empty")):
            with Visitor(chromium, served.url, narrow=narrow, dark=dark) as visitor:
                visitor.log_in(token)
                for place in _EMPTY:
                    visitor.go(place)
                    visitor.settle()
                    visitor.page.screenshot(path=tmp_path / f"{name}{place.replace('/', '-').replace('?', '-')}.png")
                    found += _wrong(visitor.page, axe, f"{name} {place}")
                    assert not visitor.page.get_by_role("button", name="Add files").count()
                if name == "reader":
                    visitor.go("/passage/letters/not-there")
                    visitor.page.get_by_role("alert").wait_for()
                    found += _wrong(visitor.page, axe, "error")
                assert visitor.wrong == []
    print(f"Screenshots: {tmp_path}")
    assert found == []
