"""Replies of a scripted model about communities and clusters of the small corpus."""

from scripted import TASKS

PRICES = dict.fromkeys((*TASKS, "other"), (1.0, 1.0))
_PLACES = "Banor Dunor Ragol Kavan Bavak Torin Meldo Suvat Perin Halgo Vistu Ormek Jatun Cyral Fendo Wexil".split()
SUMMARY = " ".join(
    f"{a} was built near {b} by {n} of them, who ruled."
    for n, (a, b) in enumerate(zip(_PLACES, _PLACES[5:] + _PLACES[:5], strict=True))
)
