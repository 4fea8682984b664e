"""Takes the pictures of the documentation: ``python -m tests.server.take_pictures MODEL TEXTS``.

MODEL is the folder of a trained tagger, TEXTS a file of texts. The pictures in ``docs/assets`` show
the demo corpus (``labelspace demo``).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.server.browser import Browser
from tests.server.running import TOKEN, Running

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
TEXT = "fit a smoothing spline through noisy points"


def main(model: Path, texts: Path) -> None:
    """Walk through the views and keep a picture of each."""
    server = Running(model, "--token", TOKEN)
    profile = Path(tempfile.mkdtemp())
    browser = Browser(profile, profile)
    try:
        browser.set_size(1280, 860)
        browser.open(server.address)
        _keep(browser, "page-empty")
        browser.type("#text", TEXT)
        browser.wait(lambda: browser.elements("#tags .tag"))
        time.sleep(1)
        browser.click(".tag:nth-child(2) .tag-name")
        browser.wait(lambda: browser.elements(".why .neighbour"))
        _keep(browser, "page-text")
        browser.click(".tag:nth-child(2) .tag-name")
        browser.click(".tag:nth-child(1) .accept")
        browser.click(".tag:nth-child(3) .reject")
        browser.type("#token", TOKEN)
        browser.click("#learn")
        browser.wait(lambda: browser.element("#lesson").is_displayed(), 120)
        _keep(browser, "page-teach")
        browser.set_size(390, 844, phone=True)
        browser.run("window.scrollTo(0, 0)")
        _keep(browser, "page-phone")
        browser.set_size(1280, 860)
        _file_and_review(browser, texts)
        _map(browser)
    finally:
        browser.quit()
        server.kill()


def _file_and_review(browser: Browser, texts: Path) -> None:
    browser.click("#tab-file")
    browser.element("#file").send_keys(str(texts.resolve()))
    browser.wait(lambda: browser.element("#tag-rows").is_displayed())
    browser.click("#tag-rows")
    browser.wait(lambda: "Done" in browser.text("job-status"), 120)
    _keep(browser, "page-file")
    browser.click("#tab-review")
    browser.type("#reviewer", "Ada")
    browser.click("#tab-file")
    browser.click("#review-rows")
    browser.wait(lambda: browser.element("#review-desk").is_displayed(), 120)
    browser.press("y")
    browser.wait(lambda: browser.elements("#row-tags .accept[aria-pressed=true]"))
    _keep(browser, "page-review")


def _map(browser: Browser) -> None:
    browser.click("#tab-map")
    browser.wait(lambda: browser.element("#canvas").get_attribute("data-drawn"), 200)
    _keep(browser, "page-map")
    browser.set_dark(True)
    browser.click("#map-text-go")
    time.sleep(1)
    for _ in range(2):
        browser.click("#zoom-in")
    _keep(browser, "page-map-near")


def _keep(browser: Browser, name: str) -> None:
    time.sleep(0.6)
    browser.save_picture(ASSETS / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
