"""The page in a real browser, walked through as its description promises.

Where chromium and chromedriver are not installed these tests are skipped and say so.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace import Tagger
from labelspace.csr import NamedColumns
from labelspace.models import NearestNeighbors
from labelspace.vocabulary import Entry, LabelName, Vocabulary
from tests.server.running import TOKEN, Running
from tests.server.texts import TRAP, tagged_texts

pytest.importorskip("selenium", reason="needs the extra 'dev'")

from selenium.webdriver.common.keys import Keys

from tests.server import browser as browsers
from tests.server.browser import Browser

pytestmark = pytest.mark.skipif(
    browsers.paths() is None,
    reason="needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)",
)

ROSES = "prune the roses beside the oven"


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def opened(downloads: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"), downloads)
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def taught(trained: Tagger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that tests may teach."""
    folder = tmp_path_factory.mktemp("taught") / "model"
    trained.save(folder)
    server = Running(folder, "--token", TOKEN)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of the default method, whose scores were measured."""
    texts, labels = tagged_texts()
    folder = tmp_path_factory.mktemp("default") / "model"
    Tagger(n_threads=1).fit(texts, labels).save(folder)
    server = Running(folder)
    yield server
    server.kill()


@pytest.fixture
def page(opened: Browser, running: Running) -> Iterator[Browser]:
    """The page, fresh; it may not have complained by the end."""
    opened.set_size(1280, 900)
    opened.set_dark(False)
    opened.open(running.address)
    yield opened
    assert opened.offline_problems() == []


def tags(page: Browser) -> list[str]:
    return page.texts("#tags .name")


def write(page: Browser, text: str) -> list[str]:
    """Type a text and return its tags when they are there, and not those of its beginning."""
    page.type("#text", text)
    page.wait(
        lambda: page.run(
            "return document.getElementById('tags').dataset.characters"
            " === String(document.getElementById('text').value.length)"
        )
    )
    return tags(page)


def test_tags_appear_as_one_types_with_probability_bars(page: Browser, trained: Tagger):
    write(page, ROSES)
    expected = [name for name, _ in trained.tag(ROSES, k=5)]
    page.wait(lambda: tags(page) == expected)
    bars = page.run(
        "return [...document.querySelectorAll('.bar')].map("
        "(bar) => bar.getBoundingClientRect().width / bar.parentElement.clientWidth)"
    )
    shares = [int(text.strip("<> %")) / 100 for text in page.texts(".percent")]
    assert bars == pytest.approx(shares, abs=0.03)
    page.element("#text").clear()
    page.type("#text", " checkmate with the rook")
    page.wait(lambda: tags(page) and tags(page)[0] == "chess")


def test_a_click_shows_the_neighbours_with_their_tags_and_the_words(page: Browser):
    first = write(page, ROSES)[0]
    page.click(".tag-name")
    page.wait(lambda: page.elements(".why .neighbour"))
    assert set(page.texts(".why .word")) & {"prune", "roses", "oven"}
    assert page.texts(".neighbour > span")[0].startswith("notes about")
    assert page.texts(".neighbour .chip.same")[0] == first
    page.click(".tag-name")
    assert not page.elements(".why")


def test_top_shows_as_many_tags_as_one_wants(page: Browser):
    write(page, ROSES)
    assert page.run("return document.querySelector('[value=balanced]').disabled")  # no goals
    for wanted in (2, 7):
        page.run("document.getElementById('k').value = ''")
        page.type("#k", str(wanted))
        page.wait(lambda wanted=wanted: len(tags(page)) == wanted)


def test_balanced_and_precise_use_the_goals_of_the_model(opened: Browser, default: Running):
    opened.set_size(1280, 900)
    opened.open(default.address)
    goals = default.ask("GET", "/v1/model")[1]["goals"]
    asked = {"text": ROSES, "k": 50}
    labels = default.ask("POST", "/v1/tag", asked)[1]["labels"]
    write(opened, ROSES)
    for choice, goal in (("balanced", "f1"), ("precise", "precision=0.9")):
        opened.click(f"[value={choice}] + span")
        expected = [label["name"] for label in labels if label["score"] >= goals[goal]]
        opened.wait(lambda expected=expected: tags(opened) == expected)
        assert "held-out" in opened.text("choice-meaning")
    opened.click("[value=all] + span")
    opened.wait(lambda: len(tags(opened)) == 5)
    assert not any("100 %" in shown for shown in opened.texts(".percent"))
    assert opened.offline_problems() == []


def test_the_empty_page_introduces_the_model_and_offers_examples(page: Browser, running: Running):
    told = running.ask("GET", "/v1/model")[1]
    assert page.text("model-name") == told["name"]
    assert page.texts("#examples button") == told["examples"]
    assert "240 examples" in page.text("card")
    assert "knn" in page.text("card")
    page.click("#examples button")
    page.wait(lambda: tags(page))
    assert page.run("return document.getElementById('text').value") == told["examples"][0]
    assert not page.element("#welcome").is_displayed()
    page.click("#clear")
    page.wait(lambda: page.element("#welcome").is_displayed())


def test_words_that_count_are_marked_where_they_stand(page: Browser):
    write(page, ROSES)
    page.run("document.querySelector('.tag-name').dispatchEvent(new PointerEvent('pointerenter'))")
    page.wait(lambda: "roses" in page.texts("#backdrop mark"))
    page.run("document.querySelector('.tag-name').dispatchEvent(new PointerEvent('pointerleave'))")
    page.wait(lambda: not page.texts("#backdrop mark"))
    page.click(".tag-name")
    page.wait(lambda: "prune" in page.texts("#backdrop mark"))


def test_unknown_words_and_their_share_are_told(page: Browser):
    write(page, "prune zeppelins beside roses")
    page.wait(lambda: "% of the words" in page.text("text-note"))
    assert "zeppelins" in page.text("text-note")
    assert "zeppelins" in page.texts("#backdrop .unknown")


def test_tags_and_ids_are_copied(page: Browser):
    names = write(page, ROSES)
    page.run("window.copied = []; navigator.clipboard.writeText = async (t) => copied.push(t)")
    page.click("#copy-tags")
    page.click("#copy-ids")
    page.wait(lambda: len(page.run("return window.copied")) == 2)
    told = page.run("return window.copied")
    assert told[0].splitlines() == names
    assert all(line.isdigit() for line in told[1].splitlines())


def test_a_text_in_another_language_is_warned_of_and_another_model_offered(
    opened: Browser, start: Any, tmp_path: Path
):
    english = ["the cat is on the roof of the house", "the dog is in the garden with a ball"]
    french = ["le chat est sur le toit de la maison", "le chien est dans le jardin avec une balle"]
    Tagger("knn").fit(english, [["cats"], ["dogs"]]).save(tmp_path / "english")
    Tagger("knn").fit(french, [["chats"], ["chiens"]]).save(tmp_path / "french")
    server = start(tmp_path / "english", str(tmp_path / "french"))
    opened.set_size(1280, 900)
    opened.open(server.address)
    assert opened.texts("#models option") == ["english", "french"]
    # No word of it is known, so that there are no tags to wait for.
    opened.type("#text", "le chat est dans la maison")
    opened.wait(lambda: "French text, model of English" in opened.text("language-note"))
    opened.click("#language-note button")
    opened.wait(lambda: tags(opened)[:1] == ["chats"])
    assert not opened.element("#language-note").is_displayed()
    opened.run("sessionStorage.clear()")
    assert opened.offline_problems() == []


def test_the_first_tags_come_within_a_tenth_of_a_second(page: Browser):
    write(page, ROSES)
    taken = page.run(
        """
        const text = document.getElementById("text");
        return new Promise((done) => {
          const list = document.getElementById("tags");
          const times = [];
          const type = () => {
            const began = performance.now();
            text.value += " oven";
            text.dispatchEvent(new Event("input"));
            const seen = new MutationObserver(() => {
              if (document.getElementById("tags").getAttribute("aria-busy") !== "false") return;
              seen.disconnect();
              times.push(performance.now() - began);
              if (times.length < 5) setTimeout(type, 50); else done(times.sort((a, b) => a - b));
            });
            seen.observe(list, { attributes: true, attributeFilter: ["aria-busy"] });
          };
          type();
        });
        """
    )
    assert taken[0] < 100, taken


def test_page_and_scripts_are_small():
    folder = resources.files("labelspace.server").joinpath("static")
    own = [one for one in folder.iterdir() if one.name.endswith((".html", ".js", ".css", ".svg"))]
    assert sum(len(one.read_bytes()) for one in own) < 150_000


def test_names_and_texts_with_html_are_shown_as_text(page: Browser):
    assert TRAP in write(page, f"onerror {TRAP} <script>document.title='hacked'</script>")
    page.click(".tag-name")
    page.wait(lambda: page.elements(".why .neighbour"))
    page.type("#add", "<img")
    page.wait(lambda: page.elements("#suggestions li"))
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    page.type("#map-search", "<img")
    page.wait(lambda: page.elements("#map-found button"))
    page.click("#map-found button")
    page.wait(lambda: page.text("map-label-name") == TRAP)
    assert not page.elements("main img")
    assert page.driver.title == "labelspace"


def test_a_lesson_is_seen_before_it_is_kept_and_can_be_undone(opened: Browser, taught: Running):
    opened.set_size(1280, 900)
    opened.open(taught.address)
    assert opened.run("return document.getElementById('learn').disabled")
    text = "onerror onerror in the oven"
    before = write(opened, text)
    opened.click(".tag:nth-child(1) .accept")
    opened.click(".tag:nth-child(2) .reject")
    assert opened.element(".tag:nth-child(2)").get_attribute("class") == "tag rejected"
    opened.type("#add", "baking trouble")
    opened.wait(lambda: "new label" in "".join(opened.texts("#suggestions li")))
    opened.press(Keys.ENTER)
    assert opened.texts("#chosen li > span") == [before[0], "baking trouble", before[1]]
    assert "2 tags right, 1 wrong. Nothing is said of all others" in opened.text("teach-hint")
    opened.type("#token", "not the token")
    opened.click("#learn")
    opened.wait(lambda: "not the server's token" in opened.text("teach-status"))
    opened.element("#token").clear()
    opened.type("#token", TOKEN)
    opened.click("#learn")
    opened.wait(lambda: opened.element("#lesson").is_displayed())
    assert "the model was trained on the first tag" in opened.text("lesson-rows")
    assert "baking trouble" in opened.texts("#lesson-tags td")
    assert not (taught.log.parent / "model.learned.jsonl").exists()
    opened.click("#keep")
    opened.wait(lambda: "Learned. New: baking trouble." in opened.text("teach-status"))
    opened.wait(lambda: "baking trouble" in tags(opened))
    assert "241 examples" in opened.text("model")
    row = json.loads((taught.log.parent / "model.learned.jsonl").read_text())
    assert (row["text"], row["labels"]) == (text, [before[0], "baking trouble"])
    assert row["rejected"] == [before[1]]
    opened.click("#undo")
    opened.wait(lambda: "undone" in opened.text("teach-status"))
    opened.wait(lambda: tags(opened) == before)
    opened.offline_problems()  # the refusal of the wrong token


def test_a_lesson_of_unknown_words_is_refused_with_the_reason(opened: Browser, taught: Running):
    opened.open(taught.address)
    write(opened, "zeppelins landing in Friedrichshafen")
    opened.type("#add", "airships")
    opened.press(Keys.ENTER)
    opened.element("#token").clear()
    opened.type("#token", TOKEN)
    opened.click("#learn")
    opened.wait(lambda: "knows no word of this text" in opened.text("teach-status"))
    opened.offline_problems()


def test_rows_of_a_file_are_reviewed_by_keyboard(
    opened: Browser, taught: Running, tmp_path: Path, downloads: Path
):
    opened.set_size(1280, 900)
    opened.open(taught.address)
    rows = "prune the roses\ncheckmate, rook\nroses and rooks in the harbour\n"
    (tmp_path / "reviewed.txt").write_text(rows)
    tag_file(opened, tmp_path / "reviewed.txt")
    opened.wait(lambda: "Done: 3 rows" in opened.text("job-status"))
    opened.click("#tab-review")
    opened.element("#review-token").clear()
    opened.type("#review-token", TOKEN)
    opened.element("#reviewer").clear()
    opened.type("#reviewer", "Ada")
    opened.click("#tab-file")
    opened.click("#review-rows")
    opened.wait(lambda: opened.element("#review-desk").is_displayed())
    assert "Row" in opened.text("row-place")
    opened.press("y")
    opened.wait(lambda: opened.elements("#row-tags .accept[aria-pressed=true]"))
    assert "1 of 3 rows reviewed" in opened.text("queue-progress")
    assert "example of 1 tag" in opened.text("consequence")
    opened.press("z")
    opened.wait(lambda: "0 of 3 rows" in opened.text("queue-progress"))
    opened.press("n")
    opened.wait(lambda: opened.elements("#row-tags .reject[aria-pressed=true]"))
    first = opened.text("row-text")
    opened.press(Keys.ARROW_RIGHT)
    opened.wait(lambda: opened.text("row-text") != first)
    opened.press("u")
    opened.wait(lambda: "2 of 3 rows reviewed" in opened.text("queue-progress"))
    # Somebody else marks at the same time.
    address = taught.address
    other = opened.run("return document.querySelector('#row-tags .name').textContent")
    queue = taught.ask("GET", "/v1/review", Authorization=f"Bearer {TOKEN}")[1]["queues"][0]
    body = {"marks": [{"row": 0, "label": other, "verdict": "right", "who": "Ben"}], "after": 0}
    path = f"/v1/review/{queue['queue']}/marks"
    assert taught.ask("POST", path, body, Authorization=f"Bearer {TOKEN}")[0] == 200
    opened.wait(lambda: taught.ask("GET", f"/v1/review/{queue['queue']}?after=0",
                                   Authorization=f"Bearer {TOKEN}")[1]["n_marks"] == 5)  # fmt: skip
    opened.click("#review-export")
    saved = opened.wait(lambda: _read(downloads / "reviewed.review.jsonl"))
    assert [json.loads(line)["text"] for line in saved.splitlines()] == rows.splitlines()
    assert address in opened.driver.current_url
    opened.run("sessionStorage.clear(); indexedDB.deleteDatabase('labelspace')")
    opened.offline_problems()


def test_labels_are_suggested_while_adding(page: Browser):
    write(page, ROSES)
    page.type("#add", "astro")
    page.wait(lambda: page.texts("#suggestions li > span") == ["astronomy", "astro"])
    page.press(Keys.ARROW_DOWN)
    page.press(Keys.ENTER)
    assert page.texts("#chosen li > span") == ["astronomy"]
    page.click("#chosen button")
    assert page.texts("#chosen li") == []


def test_without_a_token_the_page_says_that_teaching_is_off(
    opened: Browser, start: Any, folder: Path
):
    opened.open(start(folder).address)
    assert "--token" in opened.text("teach-hint")
    assert not opened.element("#token-row").is_displayed()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("texts.txt", "prune the roses\ncheckmate, rook\n"),
        ("texts.csv", 'id,text\r\n1,"prune\nthe ""roses"""\r\n2,"checkmate, rook"\r\n'),
        ("texts.tsv", "prune the roses\tgardening\ncheckmate, rook\tchess\n"),
        ("texts.jsonl", '{"text": "prune the roses"}\n{"text": "checkmate, rook"}\n'),
    ],
)
def test_a_file_is_tagged_and_downloaded(
    page: Browser, tmp_path: Path, downloads: Path, name: str, content: str
):
    (tmp_path / name).write_text(content)
    tag_file(page, tmp_path / name)
    page.wait(lambda: "Done: 2 rows" in page.text("job-status"))
    assert page.run("const p = document.getElementById('progress'); return p.value / p.max") == 1
    assert page.texts("#preview .cell-tags li:first-child")[1].startswith("chess")
    stem = name.partition(".")[0]
    page.click("#save-jsonl")
    saved = page.wait(lambda: _read(downloads / f"{stem}.tags.jsonl"))
    rows = [json.loads(line) for line in saved.splitlines()]
    assert [row["tags"][0] for row in rows] == ["gardening", "chess"]
    assert rows[1]["text"] == "checkmate, rook"
    page.click("#save-csv")
    saved = page.wait(lambda: _read(downloads / f"{stem}.tags.csv"))
    table = list(csv.DictReader(saved.lstrip("\ufeff").splitlines(keepends=True)))
    assert [row["tags"].split(";")[0] for row in table] == ["gardening", "chess"]
    assert float(table[0]["scores"].split(";")[0]) == pytest.approx(rows[0]["scores"][0])


def tag_file(page: Browser, path: Path) -> None:
    """Open a file on the page and let its rows be tagged."""
    page.click("#tab-file")
    page.element("#file").send_keys(str(path))
    page.wait(lambda: page.element("#tag-rows").is_displayed())
    page.click("#tag-rows")


RECORDS = """\
\ufeffPPN;Titel;Inhalt;tags;Jahr
00017;Rosen;prune the roses, and the hedge;alt;1999
204X;Spiel;"checkmate; with a rook";;2001
"""


def test_a_spreadsheet_comes_back_with_all_its_columns(
    page: Browser, tmp_path: Path, downloads: Path
):
    (tmp_path / "records.csv").write_text(RECORDS, encoding="utf-8")
    page.click("#tab-file")
    page.element("#file").send_keys(str(tmp_path / "records.csv"))
    page.wait(lambda: "2 rows · CSV" in page.text("job-status"))
    assert page.texts("#file-head th") == ["PPN", "Titel", "Inhalt", "tags", "Jahr"]
    assert page.texts("#file-rows tr:first-child td")[0] == "00017"
    assert page.element("#tag-rows").get_attribute("disabled")  # no column is called as texts are
    assert "at least one column" in page.text("columns-hint")
    page.click("#column-2")
    assert page.texts("#file-head th.chosen") == ["Inhalt"]
    page.click("#tag-rows")
    page.wait(lambda: "Done: 2 rows" in page.text("job-status"))
    page.click("#save-csv")
    saved = page.wait(lambda: _read(downloads / "records.tags.csv"))
    lines = saved.lstrip("\ufeff").splitlines(keepends=True)
    table = list(csv.DictReader(lines, delimiter=";"))
    assert list(table[0])[:5] == ["PPN", "Titel", "Inhalt", "tags", "Jahr"]
    assert [row["PPN"] for row in table] == ["00017", "204X"]
    assert table[1]["Inhalt"] == "checkmate; with a rook"
    assert [row["predicted_tags"].split(";")[0] for row in table] == ["gardening", "chess"]
    openpyxl = pytest.importorskip("openpyxl")
    page.click("#save-xlsx")
    book = page.wait(lambda: _loaded(openpyxl, downloads / "records.tags.xlsx"))
    rows = list(book.active.iter_rows(values_only=True))
    assert rows[0] == (*table[0],)
    assert rows[1][:2] == ("00017", "Rosen")


def _loaded(openpyxl: Any, path: Path) -> Any:
    return openpyxl.load_workbook(path) if path.exists() else None


def test_a_workbook_is_read(page: Browser, tmp_path: Path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["id", "title"], [7, "prune the roses"], [8, "checkmate, rook"]):
        book.active.append(row)
    book.save(tmp_path / "texts.xlsx")
    tag_file(page, tmp_path / "texts.xlsx")
    page.wait(lambda: "Done: 2 rows" in page.text("job-status"))
    assert page.texts("#preview .cell-tags li:first-child")[1].startswith("chess")


def _read(path: Path) -> str:
    """Return a download when it is complete, and take it away."""
    if not path.exists() or path.with_name(path.name + ".crdownload").exists():
        return ""
    content = path.read_text()
    path.unlink()
    return content


def test_a_dropped_file_shows_progress_and_can_be_stopped(page: Browser):
    page.click("#tab-file")
    page.run(
        """
        const lines = Array.from({length: 20000}, (_, row) => `prune roses ${row}`).join("\\n");
        const data = new DataTransfer();
        data.items.add(new File([lines], "many.txt"));
        const drop = document.getElementById("drop");
        drop.dispatchEvent(new DragEvent("dragover", {dataTransfer: data, cancelable: true}));
        if (!drop.classList.contains("over")) throw new Error("the target does not light up");
        drop.dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
        """
    )
    page.wait(lambda: "Tag 20,000 rows" in page.text("tag-rows"))
    page.click("#tag-rows")
    page.wait(lambda: " of 20,000 rows" in page.text("job-status"))
    seen = page.run("return document.getElementById('progress').value")
    page.wait(lambda: page.run("return document.getElementById('progress').value") > seen)
    page.click("#cancel")
    page.wait(lambda: "Stopped" in page.text("job-status"))
    assert not page.element("#save-csv").get_attribute("disabled")


def test_a_formula_is_no_formula_in_the_csv(page: Browser, tmp_path: Path, downloads: Path):
    (tmp_path / "formula.txt").write_text("=HYPERLINK(roses)\n")
    tag_file(page, tmp_path / "formula.txt")
    page.wait(lambda: "Done" in page.text("job-status"))
    page.click("#save-csv")
    saved = page.wait(lambda: _read(downloads / "formula.tags.csv"))
    assert "\n'=HYPERLINK(roses)," in saved


def test_a_file_that_cannot_be_read_is_told(page: Browser, tmp_path: Path):
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\nno json\n')
    page.click("#tab-file")
    page.element("#file").send_keys(str(tmp_path / "bad.jsonl"))
    page.wait(lambda: "bad.jsonl, line 2" in page.text("job-status"))
    assert not page.element("#tag-rows").is_displayed()
    assert len(page.offline_problems()) == 1  # the browser tells of the answer itself


def test_tags_are_in_the_asked_language_with_keys_and_without_broader_ones(
    opened: Browser, start: Any, tmp_path: Path
):
    entries = [
        Entry("k.plant", [LabelName("plant", "en"), LabelName("Pflanze", "de")]),
        Entry("k.rose", [LabelName("rose", "en"), LabelName("Rose", "de")], ["k.plant"]),
    ]
    tagger = Tagger("knn").fit(
        ["roses bloom", "green plants"],
        [["rose", "plant"], ["plant"]],
        vocabulary=Vocabulary(entries),
    )
    tagger.save(tmp_path / "model")
    opened.open(start(tmp_path / "model", "--token", TOKEN).address)
    opened.wait(lambda: opened.element("#vocabulary-controls").is_displayed())
    assert sorted(write(opened, "roses bloom")) == ["plant", "rose"]
    assert sorted(opened.texts("#tags .key")) == ["k.plant", "k.rose"]
    opened.run(
        "const s = document.getElementById('language'); s.value = 'de';"
        "s.dispatchEvent(new Event('change'))"
    )
    opened.wait(lambda: sorted(tags(opened)) == ["Pflanze", "Rose"])
    opened.click("#hide-broader")
    opened.wait(lambda: tags(opened) == ["Rose"])
    opened.type("#token", TOKEN)
    opened.click(".tag .accept")
    assert opened.texts("#chosen span") == ["Rose <k.rose>"]
    opened.click("#learn")
    opened.wait(lambda: opened.element("#lesson").is_displayed())
    opened.click("#keep")
    opened.wait(lambda: "Learned." in opened.text("teach-status"))
    assert "New" not in opened.text("teach-status")


def test_the_map_shows_the_text_among_its_labels(page: Browser):
    write(page, ROSES)
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    assert ROSES in page.text("map-text-shown")
    ground = page.run(
        "return getComputedStyle(document.documentElement).getPropertyValue('--text-point')"
    )
    page.click("#map-text-go")
    page.wait(lambda: _has_colour(page, ground))
    page.click("#tab-text")
    page.click("#clear")
    page.click("#tab-map")
    page.wait(lambda: not page.element("#map-text").is_displayed())
    page.wait(lambda: not _has_colour(page, ground))


def _has_colour(page: Browser, colour: str) -> bool:
    """Look for the pixels of a colour in the map."""
    wanted = [int(colour.strip()[at : at + 2], 16) for at in (1, 3, 5)]
    return page.run(
        """
        const canvas = document.getElementById("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let n = 0;
        for (let at = 0; at < data.length; at += 4) {
          if (arguments[0].every((part, i) => Math.abs(data[at + i] - part) < 4)) n += 1;
        }
        return n > 30;
        """,
        wanted,
    )


def test_the_map_is_searched_and_tells_the_nearest_labels(page: Browser):
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    page.type("#map-search", "OUT")
    page.wait(lambda: page.texts("#map-found span") == ["outdoors"])
    page.press(Keys.ENTER)
    page.wait(lambda: page.text("map-label-name") == "outdoors")
    page.wait(lambda: set(page.texts("#map-label-nearest span")[:2]) == {"gardening", "sailing"})
    page.click("#map-label-nearest button")
    page.wait(lambda: page.text("map-label-name") in ("gardening", "sailing"))
    page.element("#map-search").clear()
    page.type("#map-search", "no such")
    page.wait(lambda: "No label" in page.text("map-found"))


def test_the_map_moves_by_keys_wheel_and_buttons(page: Browser):
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))

    def scale() -> float:
        return float(page.element("#canvas").get_attribute("data-scale"))

    whole = scale()
    page.click("#zoom-in")
    page.wait(lambda: scale() > 1.5 * whole)
    page.click("#zoom-all")
    page.wait(lambda: scale() == whole)
    page.element("#canvas").send_keys("+", "+")
    page.wait(lambda: scale() > 1.8 * whole)
    page.element("#canvas").send_keys(Keys.ARROW_LEFT, Keys.ARROW_UP, "-", "0")
    page.wait(lambda: scale() == whole)
    page.run(
        "document.getElementById('canvas').dispatchEvent(new WheelEvent('wheel',"
        " {deltaY: -200, cancelable: true, clientX: 300, clientY: 300}))"
    )
    page.wait(lambda: scale() > 1.3 * whole)


def test_a_label_under_the_pointer_is_named(page: Browser):
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    # The most frequent label lies in the middle of the map.
    page.run(
        """
        const box = document.getElementById("canvas").getBoundingClientRect();
        const where = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
        const canvas = document.getElementById("canvas");
        canvas.dispatchEvent(new PointerEvent("pointermove", {...where, pointerId: 1}));
        """
    )
    page.wait(lambda: "outdoors ·" in page.text("tip"))


def test_thousands_of_labels_are_drawn_smoothly(opened: Browser, start: Any, tmp_path: Path):
    n = 3_000
    rng = np.random.default_rng(0)
    labels = [row.tolist() for row in np.array_split(rng.permutation(n), 400)]
    names = [f"label number {label}" for label in range(n)]
    model = NearestNeighbors().fit(rng.random((400, 4)), NamedColumns(labels, names))
    model.save(tmp_path / "model")
    opened.set_size(1280, 900)
    opened.open(start(tmp_path / "model").address + "/#map")
    opened.wait(lambda: "3,000 labels" in opened.text("map-status"))
    opened.wait(lambda: opened.element("#canvas").get_attribute("data-drawn"))
    times = opened.run(
        """
        const canvas = document.getElementById("canvas");
        const box = canvas.getBoundingClientRect();
        const times = [];
        const wheel = (deltaY) => canvas.dispatchEvent(new WheelEvent("wheel",
          {deltaY, cancelable: true, clientX: box.x + 400, clientY: box.y + 300}));
        return new Promise((finish) => {
          let step = 0;
          const next = () => {
            if (canvas.dataset.frames !== seen) {
              times.push(Number(canvas.dataset.milliseconds));
              seen = canvas.dataset.frames;
            }
            step += 1;
            if (step > 60) { finish(times); return; }
            wheel(step < 30 ? -60 : 60);
            requestAnimationFrame(next);
          };
          let seen = canvas.dataset.frames;
          requestAnimationFrame(next);
        });
        """
    )
    assert len(times) > 25
    # Time of JavaScript for a frame; 33 ms is 30 frames a second, on a machine that is busy
    # with tests and draws without a graphics card.
    assert np.median(times) < 33
    opened.type("#map-search", "number 2999")
    opened.wait(lambda: opened.texts("#map-found span") == ["label number 2999"])


def test_the_keyboard_does_everything(page: Browser):
    write(page, ROSES)
    page.run("document.querySelector('.tag-name').focus()")
    page.press("a")
    page.wait(lambda: page.elements(".tag:nth-child(1) .accept[aria-pressed=true]"))
    page.press(Keys.ARROW_DOWN)
    page.press("r")
    page.wait(lambda: "rejected" in page.element(".tag:nth-child(2)").get_attribute("class"))
    page.press(Keys.ENTER)
    page.wait(lambda: page.elements(".tag:nth-child(2) .why h3"))
    page.element("body").send_keys(Keys.ALT, "4")
    page.wait(lambda: page.element("#view-map").is_displayed())
    page.press(Keys.ARROW_LEFT)
    page.wait(lambda: page.element("#view-review").is_displayed())
    assert page.driver.current_url.endswith("#review")


def test_light_and_dark_follow_the_system_or_the_button(page: Browser):
    def ground() -> str:
        return page.run("return getComputedStyle(document.documentElement).backgroundColor")

    light = ground()
    page.set_dark(True)
    page.wait(lambda: ground() != light)
    page.click("#theme")  # light, whatever the system says
    page.wait(lambda: ground() == light)
    page.click("#theme")
    page.click("#theme")
    page.wait(lambda: page.text("theme") == "Theme: system")
    page.set_dark(False)


@pytest.mark.parametrize("view", ["text", "file", "review", "map"])
@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_every_view_without_scrolling_sideways(page: Browser, view: str, dark: bool):
    page.set_dark(dark)
    page.set_size(360, 740, phone=True)
    write(page, ROSES + " " + "verylongword" * 20)
    page.click(f"#tab-{view}")
    page.wait(lambda: page.element(f"#view-{view}").is_displayed())
    assert page.run("return document.documentElement.scrollWidth") <= 360
    small = page.run(
        "return [...document.querySelectorAll('button, input')]"
        ".filter((e) => e.offsetParent && e.getBoundingClientRect().height < 24"
        " && e.type !== 'range' && e.type !== 'file' && e.type !== 'radio' && !e.closest('.chip'))"
        ".map((e) => e.outerHTML)"
    )
    assert small == []


def test_text_is_readable_in_both_themes(page: Browser):
    """WCAG AA: 4.5 to 1 between the text's colours and the grounds they stand on."""
    for dark in (False, True):
        page.set_dark(dark)
        page.wait(
            lambda dark=dark: (
                page.run("return document.documentElement.dataset.theme")
                == ("dark" if dark else "light")
            )
        )
        colours = page.run(
            "const style = getComputedStyle(document.documentElement);"
            "return Object.fromEntries(['ground', 'card', 'raised', 'ink', 'quiet', 'accent',"
            " 'accent-ink', 'bar', 'warn-ground', 'warn-ink'].map((name) =>"
            " [name, style.getPropertyValue(`--${name}`).trim()]))"
        )
        pairs = [
            ("ink", "ground"), ("ink", "raised"), ("quiet", "card"), ("accent", "card"),
            ("ink", "bar"), ("quiet", "ground"),
            ("quiet", "raised"), ("accent", "raised"), ("accent-ink", "accent"),
            ("warn-ink", "warn-ground"),
        ]  # fmt: skip
        for text, ground in pairs:
            assert _contrast(colours[text], colours[ground]) >= 4.5, (dark, text, ground)


def _contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_control_has_a_name(page: Browser):
    write(page, ROSES)
    for view in ("text", "file", "review", "map"):
        page.click(f"#tab-{view}")
        nameless = page.run(
            "return [...document.querySelectorAll('button, input, textarea, canvas[tabindex]')]"
            ".filter((e) => e.offsetParent && !(e.textContent.trim() || e.labels?.length"
            " || e.getAttribute('aria-label')))"
            ".map((e) => e.outerHTML)"
        )
        assert nameless == []


def test_a_server_that_is_gone_is_told(opened: Browser, start: Any, folder: Path):
    server = start(folder)
    opened.open(server.address)
    server.kill()
    opened.type("#text", "roses")
    opened.wait(lambda: "cannot be reached" in opened.text("problem"))
    opened.offline_problems()


def test_nothing_is_fetched_from_elsewhere(page: Browser, running: Running):
    write(page, ROSES)
    page.click("#tab-map")
    page.wait(lambda: page.element("#canvas").get_attribute("data-drawn"))
    fetched = page.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert fetched
    assert all(address.startswith(running.address) for address in fetched)
