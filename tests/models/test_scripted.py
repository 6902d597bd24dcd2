"""The scripted server itself: its brain, and its end with the process that started it."""

import socket
import subprocess
import sys
import time
from pathlib import Path

from scripted import Scripted

from kgrag.models.chat import Message
from kgrag.models.openai_chat import OpenAIChat

_PROGRAM = Path(__file__).with_name("scripted_server.py")

BRAIN = """
def reply(task, messages, request):
    asked = messages[-1]["content"]
    return f"{task}: {asked}" if asked != "?" else None
"""


def test_a_brain_answers_and_what_was_said_does_where_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "brain.py").write_text(BRAIN)
    with Scripted(tmp_path / "brain.py") as server, OpenAIChat(server.settings()) as model:
        server.say("read", {"known": True})
        asked = [model.chat([Message("user", text)], task="read").text for text in ("Who?", "?")]
        assert asked == ["read: Who?", '{"known": true}']
        server.reset()
        assert model.chat([Message("user", "Who?")], task="answer").text == "answer: Who?"
        assert [call["task"] for call in server.calls] == ["answer"]


def test_it_ends_when_its_starter_is_gone() -> None:
    program = (
        "import os, sys\n"
        "from subprocess import PIPE, Popen\n"
        f"server = Popen([sys.executable, {str(_PROGRAM)!r}], stdin=PIPE, stdout=PIPE)\n"
        "sys.stdout.buffer.write(server.stdout.readline())\n"
        "sys.stdout.flush()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=30)
    port = int(killed.stdout)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()
        except OSError:
            return
        time.sleep(0.1)
    raise AssertionError("it still runs")
