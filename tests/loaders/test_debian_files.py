"""Published manuals, papers and HTML pages from Debian packages are read and searchable."""

import gzip
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgrag import Collection, KnowledgeGraph
from kgrag.loaders import load
from kgrag.loaders.pdf_layout import caption_number
from kgrag.values.documents import Document

pytestmark = pytest.mark.slow

_COLLECTION = "debian"
_PAPERS = (
    "usr/lib/R/site-library/lme4/doc/*.pdf",
    "usr/lib/R/library/survival/doc/*.pdf",
    "usr/share/doc/texlive-doc/latex/asmeconf/asmeconf-template.pdf",
)
_MANUALS = (
    "usr/share/doc/bash/bashref.pdf",
    "usr/share/doc/debian-policy/policy.pdf*",
    "usr/share/doc/gnuplot/gnuplot.pdf*",
)
_PAGES = ("usr/share/doc/python3.11/html/library/[c-j]*.html", "usr/share/doc/git-doc/git-[a-c]*.html")
_PACKAGES = (
    "r-cran-lme4 r-cran-survival texlive-publishers-doc bash-doc debian-policy gnuplot-doc python3.11-doc git-doc"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the folders `papers`, `manuals` and `pages`."""
    place = tmp_path_factory.mktemp("debian")
    subprocess.run(["apt-get", "download", "-q", *_PACKAGES.split()], cwd=place, check=True)
    for package in place.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, place / "unpacked"], check=True)
    for folder, patterns in (("papers", _PAPERS), ("manuals", _MANUALS), ("pages", _PAGES)):
        (place / folder).mkdir()
        for path in (path for pattern in patterns for path in sorted((place / "unpacked").glob(pattern))):
            target = place / folder / path.name.removesuffix(".gz")
            target.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    shutil.rmtree(place / "unpacked")
    return place


@pytest.fixture(scope="module")
def documents(files: Path) -> dict[str, Document]:
    """The documents by the names of their files."""
    return {Path(item.source).name: item for item in load([files]) if isinstance(item, Document)}


@pytest.fixture(scope="module")
def collection(kg: KnowledgeGraph, documents: dict[str, Document]) -> Iterator[Collection]:
    """The ingested files."""
    kg[_COLLECTION].ingest(documents.values())
    yield kg[_COLLECTION]
    kg[_COLLECTION].delete()


def test_every_letter_is_read(documents: dict[str, Document]) -> None:
    for name, document in documents.items():
        if name.endswith(".pdf"):  # one page of Python's manual is about the character itself
            assert "\ufffd" not in document.title + document.text, name
        assert "¶" not in document.title + document.text + "".join(s.heading for s in document.sections), name


def _tables(documents: dict[str, Document], names: set[str]) -> tuple[int, int]:
    """Return how many tables with and without their own captions these files have."""
    found = [table for name in names for table in documents[name].tables]
    captioned = sum(caption_number(table.caption) is not None for table in found)
    return captioned, len(found) - captioned


def test_tables_of_papers(documents: dict[str, Document], files: Path) -> None:
    assert _tables(documents, {"asmeconf-template.pdf"}) == (3, 0)
    captioned, others = _tables(documents, {"lmer.pdf"})
    assert captioned == 8
    assert others <= 1
    survival = {"adjcurve", "compete", "concordance", "splines", "survival", "tiedtimes", "timedep", "validate"}
    captioned, _ = _tables(documents, {f"{name}.pdf" for name in survival})
    assert captioned == 6  # "Table 1" and 2 of adjcurve, 1 to 4 of validate, counted by eye


@pytest.mark.parametrize("retriever", ["pathrank", "hybrid", "bm25"])
def test_an_option_of_a_manual_is_found(collection: Collection, retriever: str) -> None:
    hits = collection.search("How do I make bash exit as soon as a command fails?", k=3, retriever=retriever).hits
    assert any("Exit immediately if a pipeline" in " ".join(hit.passage.text.split()) for hit in hits)
