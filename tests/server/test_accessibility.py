"""The page for people who see little colour or use no mouse: axe-core's rules, and the Tab key.

axe-core (MPL 2.0) is not part of labelspace. ``npm install --no-save axe-core@4`` in the project's
folder brings it, or ``LABELSPACE_AXE`` names an ``axe.min.js``; without it its rules are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger
from labelspace.cli.draw_map import drawing_of
from labelspace.cli.draw_map import page as map_page
from tests.server.running import TOKEN, Running

pytest.importorskip("selenium", reason="needs the extra 'dev'")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.server import browser as browsers
from tests.server.browser import Browser

pytestmark = pytest.mark.skipif(
    browsers.paths() is None,
    reason="needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)",
)

ROOT = Path(__file__).resolve().parents[2]
AXE = Path(os.environ.get("LABELSPACE_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="needs axe-core (npm install --no-save axe-core@4)"
)
TEXT = "prune the roses beside the oven with zeppelins"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def server(trained: Tagger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("seen") / "model"
    trained.save(folder)
    server = Running(folder, "--token", TOKEN)
    yield server
    server.kill()


def empty(page: Browser, folder: Path) -> None:
    """The page as it opens."""


def text(page: Browser, folder: Path) -> None:
    """Tags, evidence, marks and what a lesson would change."""
    page.type("#text", TEXT)
    page.wait(lambda: page.elements("#tags .tag"))
    page.click(".tag:nth-child(2) .accept")
    page.click(".tag:nth-child(3) .reject")
    page.element("#token").clear()
    page.type("#token", TOKEN)
    page.click("#learn")
    page.wait(lambda: page.element("#lesson").is_displayed())
    page.click(".tag-name")
    page.wait(lambda: page.elements(".why .neighbour"))


def file(page: Browser, folder: Path) -> None:
    """A file that was tagged."""
    (folder / "rows.csv").write_text("id,title\n7,prune the roses\n8,checkmate with a rook\n")
    page.click("#tab-file")
    page.element("#file").send_keys(str(folder / "rows.csv"))
    page.wait(lambda: page.element("#tag-rows").is_displayed())
    page.click("#tag-rows")
    page.wait(lambda: "Done" in page.text("job-status"))


def review(page: Browser, folder: Path) -> None:
    """A row that is reviewed."""
    page.click("#tab-review")
    for name, value in (("#review-token", TOKEN), ("#reviewer", "Ada")):
        page.element(name).clear()
        page.type(name, value)
    file(page, folder)
    page.click("#review-rows")
    page.wait(lambda: page.element("#review-desk").is_displayed())
    page.press("y")
    page.wait(lambda: page.elements("#row-tags .accept[aria-pressed=true]"))


def the_map(page: Browser, folder: Path) -> None:
    """The map with a label that was searched."""
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    page.type("#map-search", "o")
    page.wait(lambda: page.elements("#map-found button"))
    page.click("#map-found button")
    page.wait(lambda: page.elements("#map-label-nearest button"))


VIEWS: dict[str, Callable[[Browser, Path], None]] = {
    "empty": empty,
    "text": text,
    "file": file,
    "review": review,
    "map": the_map,
}


def faults(page: Browser) -> list[str]:
    """Return what axe-core finds wrong with what is shown."""
    page.run(AXE.read_text(encoding="utf-8"))
    told: dict[str, Any] = page.run(
        "return axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',"
        " 'wcag22aa', 'best-practice']})"
    )
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in told["violations"]
        for node in fault["nodes"]
    ]


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_fault(
    opened: Browser, server: Running, tmp_path: Path, view: str, dark: bool
) -> None:
    opened.set_size(1280, 900)
    opened.set_dark(dark)
    opened.open(server.address)
    VIEWS[view](opened, tmp_path)
    assert faults(opened) == []


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_fault_on_a_map_of_its_own(
    opened: Browser, trained: Tagger, tmp_path: Path, dark: bool
) -> None:
    opened.set_dark(dark)
    (tmp_path / "map.html").write_text(map_page(drawing_of(trained)), encoding="utf-8")
    opened.driver.get((tmp_path / "map.html").as_uri())
    opened.wait(lambda: opened.element("#map").get_attribute("data-drawn"))
    assert faults(opened) == []


@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_every_control_and_shows_where_it_is(
    opened: Browser, server: Running, tmp_path: Path, view: str
) -> None:
    opened.set_size(1280, 900)
    opened.open(server.address)
    VIEWS[view](opened, tmp_path)
    # Radio buttons are one stop, and so are tabs; whatever is shown is given a number.
    n = opened.run(
        """
        const all = [...document.querySelectorAll(
          "a[href], button, input, select, textarea, summary, [tabindex='0']")];
        const shown = all.filter((e) => e.checkVisibility({visibilityProperty: true})
          && !e.disabled && e.tabIndex >= 0 && !(e.type === "radio" && !e.checked));
        shown.forEach((e, at) => { e.dataset.stop = at; });
        document.activeElement.blur();
        return shown.length;
        """
    )
    seen, unseen = set(), []
    for _ in range(n + 5):
        ActionChains(opened.driver).send_keys(Keys.TAB).perform()
        stop, is_seen = opened.run(
            """
            const e = document.activeElement;
            const around = e.closest(".editor, label") ?? e;
            const next = e.nextElementSibling ?? e;
            return [e.dataset.stop, [e, around, next].some((one) =>
              getComputedStyle(one).outlineStyle !== "none")];
            """
        )
        if stop is not None:
            seen.add(int(stop))
            if not is_seen:
                unseen.append(opened.run("return document.activeElement.outerHTML"))
    missed = opened.run(
        "return arguments[0].map((at) => document.querySelector(`[data-stop='${at}']`).outerHTML)",
        sorted(set(range(n)) - seen),
    )
    assert missed == []
    assert unseen == []
