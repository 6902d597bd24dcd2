"""Failed server starts: the cause with its remedy, or the end of the server's output."""

from pathlib import Path

import pytest

from kgrag.graph.local.process import explain_failure, tail


@pytest.mark.parametrize(
    ("output", "cause", "remedy"),
    [
        ("java.io.IOException: No space left on device", "its disk is full", "KGRAG_HOME"),
        ("Error: Could not reserve enough space for object heap", "there is not enough memory", "KGRAG_LOCAL__HEAP"),
        ("Invalid maximum heap size: -Xmx1x", "a memory setting is invalid", "KGRAG_LOCAL__PAGE_CACHE"),
        ("Lock file already locked", "another process uses its data", "ps lists it"),
        (
            "FileLockException: lock file has been locked by another process: x",
            "another process uses",
            "Stop the other",
        ),
        ("UnsupportedLogVersionException: x", "its data are of a newer Neo4j", "kgrag up --version 2026"),
        ("java.lang.UnsupportedClassVersionError: x", "this Java is too old", "Java 21"),
        ("java.nio.file.AccessDeniedException: /x", "it may not write to its folder", "KGRAG_HOME"),
    ],
)
def test_causes_have_remedies(output: str, cause: str, remedy: str) -> None:
    error = explain_failure(f"some line\n{output}\n\tat stack", "It failed")
    assert str(error).startswith(f"It failed: {cause}")
    assert remedy in error.remedy


def test_what_is_not_known_is_quoted() -> None:
    notes = "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nPicked up JAVA_TOOL_OPTIONS: x"
    said = f"{notes}\n2026 ERROR Failed to start\nCaused by: outer\n\tat a\nCaused by: inner\n\tat b"
    assert explain_failure(said).message == "Neo4j did not start: Caused by: inner"
    assert explain_failure("a\n2026 ERROR x\n2026 ERROR y\nz").message == "Neo4j did not start: 2026 ERROR y"
    assert explain_failure("1\n2\n3\n4\n5\n6").message == "Neo4j did not start: 2\n3\n4\n5\n6"
    assert explain_failure(notes).message == "Neo4j did not start: it wrote nothing"


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "neo4j.log"
    assert tail(log, 5) == []
    log.write_bytes(b"first\n" + b"x" * (1 << 18) + b"\nlast \xff\nend\n")
    assert tail(log, 2) == ["last \ufffd", "end"]
    assert tail(log, 0) == []
    assert "first" not in tail(log, 9)
