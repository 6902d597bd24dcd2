"""Which of the tiers in tiers.toml are to run: those whose files changed since they passed, or that passed days ago.

`tiers.py` prints their names, and on stderr why; with CI_ALL=1 all. `tiers.py --passed NAME` records one in
passed.json, to be committed.
"""

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
PASSED = HERE / "passed.json"


def digest(paths: list[str]) -> str:
    """Return a digest of the commits' contents below these paths; "" outside a clone."""
    listed = subprocess.run(["git", "ls-tree", "-r", "HEAD", "--", *paths], cwd=HERE.parent, stdout=subprocess.PIPE)
    return hashlib.sha256(listed.stdout).hexdigest()[:16] if listed.returncode == 0 else ""


def reason(paths: list[str], record: dict[str, str] | None, days: int) -> str | None:
    """Why a tier is to run; None if it is not."""
    if os.environ.get("CI_ALL"):
        return "CI_ALL is set"
    if record is None:
        return "it has not passed yet"
    if digest(paths) != record["digest"]:
        return "what it is about has changed"
    if datetime.now() - datetime.fromisoformat(record["at"]) > timedelta(days=days):
        return f"it passed more than {days} days ago"
    return None


def main() -> None:
    """Print the tiers to run, or record some."""
    tiers = tomllib.loads((HERE / "tiers.toml").read_text(encoding="utf-8"))
    passed = json.loads(PASSED.read_text(encoding="utf-8")) if PASSED.exists() else {}
    about = {name: [*paths, *tiers["always"]] for name, paths in tiers["paths"].items()}
    if sys.argv[1:2] == ["--passed"]:
        for name in sys.argv[2:]:
            passed[name] = {"digest": digest(about[name]), "at": datetime.now().isoformat(timespec="seconds")}
        PASSED.write_text(json.dumps(passed, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        return
    for name, paths in about.items():
        why = reason(paths, passed.get(name), tiers["days"])
        print(f"{name}: {why or 'nothing that it is about has changed'}", file=sys.stderr)
        if why:
            print(name)


if __name__ == "__main__":
    main()
