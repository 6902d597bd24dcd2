"""Which of the tiers in tiers.toml are to run: those whose files changed since they passed, or that passed days ago.

`tiers.py` prints their names, and on stderr why; with CI_ALL=1 all. `tiers.py --passed NAME` records one in
passed.json, to be committed.
"""

import json
import os
import subprocess
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
PASSED = HERE / "passed.json"


def git(*arguments: str) -> str | None:
    """What git prints; None where it fails, as for a commit that is not there."""
    run = subprocess.run(["git", *arguments], cwd=HERE.parent, capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def reason(paths: list[str], record: dict[str, str] | None, days: int) -> str | None:
    """Why a tier is to run; None if it is not."""
    if os.environ.get("CI_ALL"):
        return "CI_ALL is set"
    if record is None:
        return "it has not passed yet"
    changed = git("diff", "--name-only", record["commit"], "HEAD", "--", *paths)
    if changed is None:
        return f"commit {record['commit'][:10]}, where it passed, is not there"
    if changed:
        first, *rest = changed.splitlines()
        return f"{first} changed" + (f", and {len(rest)} more" if rest else "")
    if datetime.now() - datetime.fromisoformat(record["at"]) > timedelta(days=days):
        return f"it passed more than {days} days ago"
    return None


def main() -> None:
    """Print the tiers to run, or record one."""
    tiers = tomllib.loads((HERE / "tiers.toml").read_text(encoding="utf-8"))
    passed = json.loads(PASSED.read_text(encoding="utf-8")) if PASSED.exists() else {}
    if sys.argv[1:2] == ["--passed"]:
        now = {"commit": git("rev-parse", "HEAD"), "at": datetime.now().isoformat(timespec="seconds")}
        PASSED.write_text(json.dumps(passed | {sys.argv[2]: now}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        return
    for name, paths in tiers["paths"].items():
        why = reason([*paths, *tiers["always"]], passed.get(name), tiers["days"])
        print(f"{name}: {why or 'nothing that it is about has changed'}", file=sys.stderr)
        if why:
            print(name)


if __name__ == "__main__":
    main()
