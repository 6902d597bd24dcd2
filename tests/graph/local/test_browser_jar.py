"""Neo4j Browser's jar with kgrag's own pages in it."""

from pathlib import Path
from zipfile import ZipFile

from kgrag.graph.local.config import Ports, conf_text
from kgrag.graph.local.home import place_browser
from kgrag.graph.local.releases import DEFAULT
from kgrag.settings import LocalSettings


def _jar(path: Path) -> Path:
    with ZipFile(path, "w") as archive:
        archive.writestr("browser/index.html", "<html>")
    return path


def test_the_copy_holds_the_pages_and_is_made_again_only_when_it_must(tmp_path: Path) -> None:
    jars = [_jar(tmp_path / "neo4j-browser-1.0.jar"), _jar(tmp_path / "other.jar")]
    original = jars[0].read_bytes()
    folder = tmp_path / "browser"
    folder.mkdir()
    (folder / "left by a killed start").touch()
    copy, other = place_browser(jars, folder, {"a/page.html": "Tromsø"})
    assert other == jars[1] and copy == folder / jars[0].name
    with ZipFile(copy) as archive:
        assert archive.read("browser/index.html") == b"<html>"
        assert archive.read("browser/a/page.html").decode() == "Tromsø"
    assert [*folder.iterdir()] == [copy] and jars[0].read_bytes() == original

    made = copy.stat().st_mtime_ns
    assert place_browser(jars, folder, {"a/page.html": "Tromsø"})[0].stat().st_mtime_ns == made
    place_browser(jars, folder, {"a/page.html": "Larvik"})
    copy.write_bytes(copy.read_bytes()[:50])
    place_browser(jars, folder, {"a/page.html": "Hobart"})
    with ZipFile(copy) as archive:
        assert archive.namelist() == ["browser/index.html", "browser/a/page.html"]
        assert archive.read("browser/a/page.html") == b"Hobart"


def test_the_guide_can_be_left_out() -> None:
    ports, page = Ports(7687, 7474), "http://127.0.0.1:7474/browser/kgrag/guide.html"
    command = f"browser.post_connect_cmd=play {page}\n"
    assert command in conf_text(LocalSettings(), DEFAULT, ports, (), page)
    without = conf_text(LocalSettings(guide=False), DEFAULT, ports, (), page)
    assert "post_connect_cmd" not in without and "browser.remote_content_hostname_whitelist=" in without
