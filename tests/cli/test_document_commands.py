"""kgrag ingest, delete."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.loaders import LOADERS


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "fram.md").write_text("# Fram\n\nThe Fram was designed by Colin Archer.\n")
    (folder / "larvik.txt").write_text("Larvik is a town in Norway.\n")
    return folder


def counts(kg: KnowledgeGraph, collection: str) -> dict[str, int]:
    return next((dict(c.counts) for c in kg.collections() if c.name == collection), {})


def test_ingest_sums_up_what_it_did(cli: CommandLine, kg: KnowledgeGraph, notes: Path, collection_name: str) -> None:
    first = cli("ingest", str(notes), "-c", collection_name).stdout.splitlines()
    assert first[0] == f"Collection {collection_name}: 2 added, 0 changed, 0 unchanged"
    assert first[1].startswith("2 passages written, 2 vectors computed in ")
    (notes / "fram.md").write_text("# Fram\n\nThe Fram was launched at Larvik.\n")
    again = cli("ingest", str(notes), "-c", collection_name).stdout
    assert again.startswith(f"Collection {collection_name}: 0 added, 1 changed, 1 unchanged\n1 passage written")
    assert counts(kg, collection_name)["Document"] == 2


def test_ingest_json(cli: CommandLine, notes: Path, collection_name: str) -> None:
    (notes / "empty.txt").touch()
    report = cli.json("ingest", str(notes), "-c", collection_name)
    assert (report["collection"], report["added"], report["passages"]) == (collection_name, 2, 2)
    assert [Path(p["place"]).name for p in report["problems"]] == ["empty.txt"]


def test_problems_come_at_the_end_and_strict_makes_them_an_error(
    cli: CommandLine, notes: Path, collection_name: str
) -> None:
    (notes / "bad.jsonl").write_text("{not json\n" * 30)
    lenient = cli("ingest", str(notes), "-c", collection_name, code=12)
    assert lenient.stdout.startswith(f"Collection {collection_name}: 2 added")
    end = lenient.stderr.rpartition("30 problems:\n")[2].splitlines()
    assert len(end) == 21 and "bad.jsonl:1:" in end[0] and end[20].startswith("  ... and 10 more")
    cli("ingest", str(notes), "-c", collection_name, "--strict", code=5)
    assert len(cli.json("ingest", str(notes), "-c", collection_name, "--strict", code=5)["problems"]) == 30


def test_strict_without_problems_is_a_success(cli: CommandLine, notes: Path, collection_name: str) -> None:
    cli("ingest", str(notes), "-c", collection_name, "--strict")


def test_nothing_to_read_ends_with_5(cli: CommandLine, tmp_path: Path, collection_name: str) -> None:
    missing = cli("ingest", str(tmp_path / "no-such"), "-c", collection_name, code=5)
    assert "no-such" in missing.stderr and "exist" in missing.stderr
    (tmp_path / "empty").mkdir()
    empty = cli("ingest", str(tmp_path / "empty"), "-c", collection_name, code=5)
    assert "Nothing could be read" in empty.stderr and empty.stdout == ""


def test_one_path_of_two_is_enough(cli: CommandLine, notes: Path, collection_name: str) -> None:
    result = cli("ingest", str(notes / "fram.md"), str(notes / "no-such"), "-c", collection_name, code=12)
    assert "1 added" in result.stdout and "1 problem:" in result.stderr and "no-such" in result.stderr


def test_columns_are_named_by_options(cli: CommandLine, tmp_path: Path, collection_name: str) -> None:
    table = tmp_path / "items.csv"
    table.write_text("sku,label,description\na1,House,A red house of stone\na2,Boat,A blue boat\n")
    rows = tmp_path / "items.jsonl"
    rows.write_text('{"sku": "a1", "description": "A red house"}\n')
    unnamed = cli("ingest", str(rows), "-c", collection_name, "--key-column", "sku", code=5).stderr
    assert "--text-column" in unnamed and "description" in unnamed
    options = ("--key-column", "sku", "--title-column", "label", "--text-column", "description")
    cli("ingest", str(table), "-c", collection_name, *options)
    hit = cli.json("search", "house", "-c", collection_name, "-r", "bm25")["hits"][0]["passage"]
    assert (hit["document"], hit["title"], hit["text"]) == ("a1", "House", "A red house of stone")


def test_the_collection_comes_from_the_environment(cli: CommandLine, notes: Path, collection_name: str) -> None:
    assert collection_name in cli("ingest", str(notes), env={"KGRAG_COLLECTION": collection_name}).stdout
    cli("ingest", str(notes), "-c", "", code=2)


def test_unknown_embedder(cli: CommandLine, kg: KnowledgeGraph, notes: Path, collection_name: str) -> None:
    assert "wordllama" in cli("ingest", str(notes), "-c", collection_name, "--embedder", "no-such", code=4).stderr
    assert counts(kg, collection_name) == {}


def test_help_names_every_format(cli: CommandLine) -> None:
    text = cli("ingest", "--help").stdout
    assert [suffix for form in LOADERS.values() for suffix in form.extensions if suffix not in text] == []


def test_what_is_excluded_is_counted(cli: CommandLine, kg: KnowledgeGraph, notes: Path, collection_name: str) -> None:
    result = cli("ingest", str(notes), "-c", collection_name, "--exclude", "*.md")
    assert "1 file skipped: excluded 1\n" in result.stderr
    assert not any(document.key.endswith(".md") for document in kg[collection_name].documents())


def test_ingest_names_what_is_gone_and_prunes_when_told(
    cli: CommandLine, kg: KnowledgeGraph, notes: Path, collection_name: str
) -> None:
    for name in ("x.zzz", "y.zzz", "Makefile"):
        (notes / name).touch()
    first = cli("ingest", str(notes), "-c", collection_name)
    assert "3 files skipped: .zzz 2, without extension 1\n" in first.stderr
    (notes / "larvik.txt").unlink()
    look = cli("ingest", str(notes), "-c", collection_name)
    assert "1 document of this collection whose file or row is no longer there" in look.stderr
    assert str(notes / "larvik.txt") in look.stderr and "--prune" in look.stderr
    assert "terminal" in cli("ingest", str(notes), "-c", collection_name, "--prune", code=2).stderr
    cli("ingest", str(notes), "-c", collection_name, "--yes", code=2)
    assert counts(kg, collection_name)["Document"] == 2
    asked = cli.on_terminal("ingest", str(notes), "-c", collection_name, "--prune", type="n\n")
    assert "larvik.txt" in asked and "Delete 1 of 2 documents?" in asked
    assert counts(kg, collection_name)["Document"] == 2
    done = cli("ingest", str(notes), "-c", collection_name, "--prune", "--yes")
    assert done.stdout.startswith(f"Collection {collection_name}: 0 added, 0 changed, 1 unchanged, 1 deleted\n")
    assert counts(kg, collection_name)["Document"] == 1


def test_pruning_more_than_half_asks_all_the_same(
    cli: CommandLine, kg: KnowledgeGraph, tmp_path: Path, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(11):
        (tmp_path / f"{n}.txt").write_text(f"Ship {n} sailed from port {n}.")
    cli("ingest", str(tmp_path), "-c", collection_name)
    for n in range(8):
        (tmp_path / f"{n}.txt").unlink()
    prune = ("ingest", str(tmp_path), "-c", collection_name, "--prune", "--yes")
    assert "--force deletes them" in cli(*prune, code=2).stderr
    assert "Delete 8 of 11 documents?" in cli.on_terminal(*prune, type="n\n")
    assert kg[collection_name].ingest([tmp_path], prune=True).pruned == 0
    assert counts(kg, collection_name)["Document"] == 11
    monkeypatch.setenv("KGRAG_LOADING__PRUNE_LIMIT", "0.6")
    cli(*prune, code=2)
    monkeypatch.setenv("KGRAG_LOADING__PRUNE_LIMIT", "0.8")
    assert ", 8 deleted\n" in cli(*prune).stdout
    assert counts(kg, collection_name)["Document"] == 3


def test_files_that_cannot_be_read_end_with_12(cli: CommandLine, notes: Path, collection_name: str) -> None:
    (notes / "empty.txt").touch()
    (notes / "page.html").write_text("<p>It was <del>red</del> <ins>blue</ins>.</p>")
    told = cli("ingest", str(notes), "-c", collection_name)
    assert "Left out beside the text: deleted piece 1\n" in told.stderr
    (notes / "broken.docx").write_bytes(b"PK\3\4 no archive")
    assert "broken.docx" in cli("ingest", str(notes), "-c", collection_name, code=12).stderr
    assert "12 if some files" in cli("ingest", "--help").stdout


def test_ctrl_c_keeps_what_was_committed(
    cli: CommandLine, kg: KnowledgeGraph, tmp_path: Path, collection_name: str
) -> None:
    total = 1000
    corpus = tmp_path / "many.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": i, "text": f"Ship {i} sailed from port {i % 97}."}) + "\n" for i in range(total))
    )
    small_batches = CommandLine({**cli.env, "KGRAG_BATCH_PASSAGES": "50"})
    run = small_batches.start(
        "ingest", str(corpus), "-c", collection_name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # like the background of a script
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not counts(kg, collection_name).get("Passage") and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert time.monotonic() - began < 20  # a second or two on an idle machine
    assert out == b""
    assert err.decode().splitlines()[-1].startswith("Stopped; committed data stays. Run the same command again")
    assert b"Traceback" not in err
    again = cli.json("ingest", str(corpus), "-c", collection_name)
    assert again["unchanged"] > 0, again
    assert again["added"] + again["changed"] + again["unchanged"] == total == counts(kg, collection_name)["Passage"]


def test_delete_documents(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    result = cli("delete", "-c", ships, "--document", "fram", "--document", "larvik", "--yes")
    assert result.stdout == "Deleted 2 documents (2 passages).\n"
    assert counts(kg, ships)["Document"] == 1
    assert cli.json("search", "Fram", "-c", ships, "-r", "bm25")["hits"] == []


def test_delete_of_an_unknown_document_removes_nothing(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    assert (
        "'no-such'" in cli("delete", "-c", ships, "--document", "fram", "--document", "no-such", "--yes", code=4).stderr
    )
    assert counts(kg, ships)["Document"] == 3


def test_delete_a_collection(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    deleted = cli.json("delete", "--collection", ships, "--yes")
    assert deleted == {"collection": ships, "documents": [], "passages": 3}
    assert ships not in [c.name for c in kg.collections()]
    assert "There is no collection" in cli("delete", "--collection", ships, "--yes", code=4).stderr


def test_delete_without_a_terminal_needs_yes(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    refused = cli("delete", "--collection", ships, code=2, input="y\n").stderr
    assert f"collection {ships} (3 documents, 3 passages)" in refused and "--yes" in refused
    cli("delete", "-c", ships, "--document", "fram", code=2)
    assert counts(kg, ships)["Document"] == 3


def test_delete_asks_on_a_terminal(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    refused = cli.on_terminal("delete", "-c", ships, type="n\n", code=130)
    assert f"Delete collection {ships} (3 documents, 3 passages)? [y/N]" in refused
    assert counts(kg, ships)["Document"] == 3
    assert "Deleted 1 document" in cli.on_terminal("delete", "-c", ships, "--document", "fram", type="y\n")
    assert counts(kg, ships)["Document"] == 2


def test_delete_of_a_collection_wants_its_name_on_the_command_line(
    cli: CommandLine, kg: KnowledgeGraph, ships: str
) -> None:
    cli("delete", "--yes", code=2)
    cli("delete", "--yes", code=2, env={"KGRAG_COLLECTION": ships})
    assert counts(kg, ships)["Document"] == 3
    cli("delete", "--document", "fram", "--yes", env={"KGRAG_COLLECTION": ships})
    assert counts(kg, ships)["Document"] == 2
