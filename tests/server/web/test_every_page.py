"""Every page of the application, wide and narrow, light and dark: it fits, and whoever cannot see it can use it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from pages import QUESTION, SHIPS, Visit

from kgrag.client import KnowledgeGraph
from kgrag.evaluation.kept import kept

pytestmark = pytest.mark.browser

_C, _P = quote(SHIPS), quote(SHIPS, safe="")
_PLACES = {
    "collections": "/",
    "collection": f"/collections/{_P}",
    "ask": f"/ask?collection={_C}&q=Solheim&system=search%3A+bm25",
    "upload": "/upload",
    "explore": f"/explore?collection={_C}&name=Ingrid+Solheim",
    "graph": f"/graph?collection={_C}&name=Ingrid+Solheim",
    "queries": f"/queries?collection={_C}",
    "query": f"/queries/names?collection={_C}&run=1",
    "compare": f"/compare?collection={_C}&q=Solheim&one=search%3A+bm25&other=search%3A+dense",
    "runs": "/runs",
    "run": "/runs/{run}",
    "evaluations": "/evaluations",
    "evaluation": "/evaluations/{one}",
    "evaluations-compared": "/evaluations/{one}?beside={other}",
    "names": f"/names?collection={_C}",
    "passage": f"/passage/{_P}/{{passage}}",
    "login": "/login",
}


@pytest.fixture(scope="module")
def made(kg: KnowledgeGraph, evaluations: Path) -> Iterator[dict[str, str]]:
    """What addresses are made of."""
    ranking = kg[SHIPS].search(QUESTION)
    run = kg[SHIPS].save(ranking)
    one, other = kept(evaluations)
    yield {"run": run, "one": one.id, "other": other.id, "passage": ranking[0].passage.id}
    kg.delete_runs([run])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_every_page_fits_and_can_be_read_out(
    visit: Visit, made: dict[str, str], narrow: bool, dark: bool, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe  # which the tests without a browser lack

    page, axe = (visitor := visit(narrow=narrow, dark=dark)).page, Axe()
    found = []
    for name, place in _PLACES.items():
        visitor.go(place.format(**made))
        visitor.settle()
        page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
        assert not page.get_by_role("alert").count(), page.get_by_role("alert").inner_text()
        found += [
            (name, its["id"], its["nodes"][0]["html"], its["nodes"][0]["failureSummary"])
            for its in axe.run(page).response["violations"]
            if its["impact"] in ("serious", "critical")
        ]
    print(f"Screenshots: {tmp_path}")
    assert found == []
