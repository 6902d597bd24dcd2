"""Write the lists of Neo4j's classes again.

`python -m kgrag.graph.local.classes [LINE ...]`, for maintainers, after the lock files. A list holds what a server has
loaded when the demo is ingested and asked. What is not in it is read from its jar, and one that there is no longer is
passed over. Takes about a minute a line.
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from kgrag.graph.local.archive import list_name
from kgrag.graph.local.releases import LINES, Line, line_named

_COMMANDS = (["up"], ["demo"], ["search", "Who built the Fram?", "-c", "demo", "-r", "hybrid"], ["down"])
_MADE_UP = re.compile(r"[#@]|java/lang/invoke/|.*(\$Proxy|LambdaForm|\$\$Lambda)")
"""Lines on what Java makes while it runs: another version makes others."""


def loaded_classes(line: Line) -> list[str]:
    """Return the classes that a server of this line loads, by their names in Java's own form."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "listed"
        env = os.environ | {
            "KGRAG_HOME": f"{folder}/home",
            "KGRAG_LOCAL__VERSION": line.name,
            "KGRAG_LOCAL__ARCHIVE": "false",
            "JDK_JAVA_OPTIONS": f"-XX:DumpLoadedClassList={listed}",
        }
        for command in _COMMANDS:
            subprocess.run([sys.executable, "-m", "kgrag", *command], env=env, check=True, stdout=subprocess.DEVNULL)
        lines = listed.read_text(encoding="utf-8").splitlines()
    return sorted({line.split()[0] for line in lines if not _MADE_UP.match(line)})


if __name__ == "__main__":
    for line in [line_named(name) for name in sys.argv[1:]] or LINES:
        classes = loaded_classes(line)
        print(f"{line.name}: {len(classes)} classes", file=sys.stderr)
        Path(__file__).with_name(list_name(line)).write_bytes(
            lzma.compress("".join(f"{name}\n" for name in classes).encode(), preset=9)
        )
