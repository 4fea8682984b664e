"""The map as a page of its own (``labelspace map``), in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from labelspace.cli.draw_map import Drawing, page

pytest.importorskip("selenium", reason="needs the extra 'dev'")

from tests.server import browser as browsers
from tests.server.browser import Browser

pytestmark = pytest.mark.skipif(
    browsers.paths() is None,
    reason="needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    browser.set_size(1280, 900)
    yield browser
    browser.quit()


def drawing(n: int, kind: str) -> Drawing:
    rng = np.random.default_rng(0)
    radius, angle = 0.9 * np.sqrt(rng.random(n)), 2 * np.pi * rng.random(n)
    places = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    names = [f"label number {label}" for label in range(n)]
    near = [[(label + 1) % n] for label in range(n)]
    return Drawing(places, names, np.arange(n, 0, -1), near, kind, f"{n:,} labels")


def show(opened: Browser, folder: Path, shown: Drawing) -> None:
    (folder / "map.html").write_text(page(shown), encoding="utf-8")
    opened.driver.get((folder / "map.html").as_uri())
    opened.wait(lambda: opened.element("#map").get_attribute("data-drawn"))


@pytest.mark.parametrize("kind", ["neighbourhood", "poincare"])
def test_a_label_is_found_and_one_may_walk_about(opened: Browser, tmp_path: Path, kind: str):
    show(opened, tmp_path, drawing(300, kind))
    assert opened.text("title") == "300 labels"

    def scale() -> float:
        return float(opened.element("#map").get_attribute("data-scale"))

    whole = scale()
    opened.click("#nearer")
    opened.wait(lambda: scale() > 1.5 * whole)
    opened.click("#whole")
    opened.wait(lambda: scale() == whole)
    opened.type("#find", "number 299")
    # It lies in the middle now.
    opened.wait(
        lambda: (
            opened.run(
                """
            const canvas = document.getElementById("map");
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent("pointermove",
              {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, pointerId: 1}));
            return document.getElementById("tip").textContent;
            """
            )
            == "label number 299 · 1"
        )
    )
    opened.element("#find").clear()
    opened.type("#find", "no such")
    opened.wait(lambda: "No label" in opened.text("said"))
    assert opened.offline_problems() == []


def test_a_hundred_thousand_labels_are_moved_smoothly(opened: Browser, tmp_path: Path):
    show(opened, tmp_path, drawing(100_000, "neighbourhood"))
    scripts, gaps = opened.run(
        """
        const canvas = document.getElementById("map");
        const box = canvas.getBoundingClientRect();
        const wheel = (deltaY) => canvas.dispatchEvent(new WheelEvent("wheel",
          {deltaY, cancelable: true, clientX: box.x + 400, clientY: box.y + 300}));
        return new Promise((finish) => {
          const scripts = [], gaps = [];
          let before = performance.now();
          const next = (now) => {
            gaps.push(now - before);
            before = now;
            scripts.push(Number(canvas.dataset.milliseconds));
            if (gaps.length > 60) { finish([scripts, gaps]); return; }
            wheel(gaps.length < 30 ? -40 : 40);
            requestAnimationFrame(next);
          };
          requestAnimationFrame(next);
        });
        """
    )
    # A frame at 60 a second has 16.7 ms for scripts and graphics card. How soon frames come says
    # more of the machine, which may have no such card, than of the page.
    assert len(gaps) > 60
    assert np.median(scripts) < 16.7
    # When it is still, all are there.
    opened.wait(lambda: opened.element("#map").get_attribute("data-drawn") == "100000")
