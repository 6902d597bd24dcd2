"""Measure how soon a visitor sees something in Chromium: first paint, first step, first words, a source.

    python bench/web_speed.py http://127.0.0.1:8000 --collection demo

Needs Playwright (make extra EXTRA=browser) and a server with a language model. Prints medians of some runs, in
milliseconds.
"""

import argparse
import shutil
import statistics
import time
from collections import defaultdict
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def look(page: Page, url: str, collection: str, question: str) -> dict[str, float]:
    """Return the milliseconds of one visit."""
    took: dict[str, float] = {}
    page.goto(f"{url}/?collection={quote(collection)}")
    page.get_by_label("Question", exact=True).wait_for()
    took["first paint"] = float(page.evaluate(_PAINT))
    if "Fast" in page.get_by_label("How it is answered").inner_text():
        page.get_by_label("How it is answered").select_option("Fast")
    page.get_by_label("Question", exact=True).fill(question)
    began = time.monotonic()

    def since() -> float:
        return (time.monotonic() - began) * 1000

    page.get_by_label("Question", exact=True).press("Enter")
    page.locator(".steps .line").first.wait_for(state="attached")
    took["first step"] = since()
    page.locator(".answer p").first.wait_for()
    took["first words"] = since()
    page.locator(".cite").first.wait_for()
    took["whole answer"] = since()
    page.locator(".cite").first.click()
    began = time.monotonic()
    page.get_by_label("Close the sources").click()
    page.locator(".cite").first.click()
    page.locator(".source-body").locator("img, mark").first.wait_for()
    took["source, had before"] = since()
    return took


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--collection", default="demo")
    parser.add_argument("--question", default="Which town was home to the designer of the Fram?")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    found: dict[str, list[float]] = defaultdict(list)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(asked.runs):
            with browser.new_context() as context:
                for name, value in look(context.new_page(), asked.url, asked.collection, asked.question).items():
                    found[name].append(value)
    for name, values in found.items():
        print(f"{name:20} {statistics.median(values):7,.0f} ms   ({min(values):,.0f} to {max(values):,.0f})")


if __name__ == "__main__":
    main()
