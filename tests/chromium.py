"""Find this machine's Chromium. The script prints its path, or fails and says how to install it."""

import shutil
import sys

_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
MISSING = (
    "No Chromium or Google Chrome on this machine. Install one: `apt-get install chromium` (Debian), "
    "`snap install chromium` (Ubuntu), `brew install --cask google-chrome` (macOS)."
)


def find_chromium() -> str | None:
    """Return the path of Chromium or Google Chrome, or None."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


if __name__ == "__main__":
    print(find_chromium() or sys.exit(MISSING))
