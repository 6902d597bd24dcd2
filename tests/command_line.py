"""The command line as a user runs it: with arguments, streams and exit codes."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner, Result

from kgrag.cli import main

ENTRY = "from kgrag.cli import main; main(prog_name='kgrag')"


def run_kgrag(env: Mapping[str, str] | None, *words: object, code: int = 0, input: str = "") -> Result:
    """Run `kgrag` in this process, and check its exit code."""
    result = CliRunner().invoke(main, [*map(str, words)], env=env, input=input, prog_name="kgrag")
    assert result.exit_code == code, result.output
    return result


@dataclass(frozen=True)
class CommandLine:
    """Runs kgrag in this process, or in a separate one."""

    env: dict[str, str]

    def __call__(self, *args: str, code: int = 0, env: dict[str, str] | None = None, input: str = "") -> Result:
        return run_kgrag({**self.env, **(env or {})}, *args, code=code, input=input)

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", code=code).stdout)

    def start(self, *args: str, **streams: Any) -> subprocess.Popen[bytes]:
        """Start a separate process."""
        env = {**os.environ, **self.env, "TERM": "xterm-256color"}
        return subprocess.Popen([sys.executable, "-c", ENTRY, *args], env=env, **streams)

    def on_terminal(self, *args: str, type: str = "", code: int = 0) -> str:
        """Return the output of a command on a terminal, after `type` was typed on it."""
        ours, theirs = pty.openpty()
        os.write(ours, type.encode())
        with self.start(*args, stdin=theirs, stdout=theirs, stderr=theirs) as run:
            os.close(theirs)
            output = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # on Linux, when the other end is closed
                    break
                if not part:
                    break
                output += part
            run.wait(timeout=60)
        os.close(ours)
        assert run.returncode == code, output.decode()
        return output.decode()
