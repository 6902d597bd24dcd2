"""kgrag list prompts."""

from pathlib import Path

from command_line import CommandLine

from kgrag.models.prompts import load_prompt, names


def test_prompts_are_listed_copied_and_replaced(tmp_path: Path) -> None:
    kgrag = CommandLine({})
    listed = kgrag.json("list", "prompts")
    assert [row["name"] for row in listed] == names()
    assert all(row["path"] is None for row in listed)
    assert f"{load_prompt('read').version}  of kgrag" in kgrag("list", "prompts").stdout

    folder = tmp_path / "my prompts"
    folder.mkdir()
    (folder / "read.txt").write_text("[user]\n$question $passages")
    (folder / "raed.txt").write_text("")
    copied = kgrag("list", "prompts", "--copy", str(folder))
    assert f"{len(names()) - 1} prompts copied to {folder}; 1 were there already." in copied.stdout
    assert f"KGRAG_CHAT__PROMPTS={folder}" in copied.stderr
    assert (folder / "read.txt").read_text() == "[user]\n$question $passages"
    assert kgrag.json("list", "prompts", "--copy", str(folder)) == {"folder": str(folder), "copied": []}

    own = kgrag("list", "prompts", env={"KGRAG_CHAT__PROMPTS": str(folder)})
    assert f"{load_prompt('read', folder).version}  {folder / 'read.txt'}" in own.stdout
    assert f"{load_prompt('reason').version}  {folder / 'reason.txt'}" in own.stdout
    assert "never used: raed.txt" in own.stderr


def test_a_prompt_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text("Answer $question!")
    failed = CommandLine({})("list", "prompts", code=2, env={"KGRAG_CHAT__PROMPTS": str(tmp_path)})
    assert "cannot be used" in failed.stderr
