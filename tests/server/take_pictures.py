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
        browser.type("#text", TEXT)
        browser.wait(lambda: browser.elements("#tags .tag"))
        time.sleep(1)
        browser.click(".tag:nth-child(2) .tag-name")
        browser.wait(lambda: browser.elements(".why .neighbour"))
        time.sleep(0.3)
        browser.save_picture(ASSETS / "page-text.png")

        browser.click(".tag:nth-child(2) .tag-name")
        browser.click(".tag:nth-child(1) .accept")
        browser.click(".tag:nth-child(2) .accept")
        browser.click(".tag:nth-child(3) .reject")
        browser.type("#token", TOKEN)
        browser.type("#add", "spline")
        browser.wait(lambda: browser.elements("#suggestions li"))
        time.sleep(0.3)
        browser.save_picture(ASSETS / "page-teach.png")

        browser.click("#tab-file")
        browser.element("#file").send_keys(str(texts.resolve()))
        browser.wait(lambda: browser.element("#tag-rows").is_displayed())
        browser.click("#tag-rows")
        browser.wait(lambda: "Done" in browser.text("job-status"))
        browser.save_picture(ASSETS / "page-file.png")

        browser.click("#tab-map")
        browser.wait(lambda: browser.element("#canvas").get_attribute("data-drawn"))
        time.sleep(1)
        browser.save_picture(ASSETS / "page-map.png")
        browser.set_dark(True)
        browser.type("#map-search", "interpolate")
        browser.wait(lambda: browser.elements("#map-found button"))
        browser.click("#map-text-go")
        time.sleep(1.5)
        browser.save_picture(ASSETS / "page-map-near.png")

        browser.set_size(390, 844, phone=True)
        browser.click("#tab-text")
        time.sleep(0.5)
        browser.run("window.scrollTo(0, 0)")
        browser.save_picture(ASSETS / "page-phone.png")
    finally:
        browser.quit()
        server.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
