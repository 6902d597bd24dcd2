"""Ctrl-C ends a command at any moment."""

import signal
import subprocess
import sys
import time

CODE = """
import sys, time
from kgrag.cli.outcome import interruptible

class Deaf:
    def __del__(self):
        print("ready", flush=True)
        time.sleep(1.5)  # KeyboardInterrupt in here is printed and dropped

try:
    with interruptible():
        Deaf()
        try:
            time.sleep(20)
        finally:
            time.sleep(2)
            print("tidy")
except KeyboardInterrupt:
    print("ended")
    time.sleep(1.5)  # nothing comes after the block
    print("and quiet")
"""


def test_a_ctrl_c_that_python_drops_comes_again() -> None:
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert b"Exception ignored" in err  # Python dropped the exception
    assert out == b"tidy\nended\nand quiet\n"
    assert time.monotonic() - began < 10
    assert run.returncode == 0
