"""What a check found, as `kgrag doctor` and `kgrag serve --check` print it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check; `remedy` is empty where it passed."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
