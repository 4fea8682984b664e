"""What methods are as printed, repaired, and as they come: one table of all presets.

A cell has P@1, P@3 and P@5, as means over the ten random splits where there are runs of all of
them, else over those that there are if these are three at least, with a note that says how many,
else of one run on the files as given. No cell is empty without a note that says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.corpora import RANDOM_SPLITS
from benchmarks.plan import TEN_SPLITS
from benchmarks.render.references import earlier, published
from benchmarks.render.rows import Figure
from benchmarks.render.tables import markdown
from benchmarks.results import DONE, Line, latest
from labelspace.models import METHODS, find
from labelspace.parameters import Settings

FIGURES = ("P@1", "P@3", "P@5")
HEAD = ("method", "corpus", "paper's figure", "`paper`", "`repaired`", "default")

ONE_RUN = "One run on the files as given"
NO_PAPER = "Ours, or too simple for a publication: there is no such preset"
NOT_PUBLISHED = (
    "No figures of the publication on this corpus are known to us, or they are in a picture only"
)
NOT_RUN = "Not run yet"
PROGRAM = "The original program, measured on the files as given"
NO_REPAIR = "Learns as printed: nothing to repair"

FEW = 3
"""Random splits that are enough for a mean."""

# Since when presets are what they say: runs from before were of something else.
SINCE = {
    "annexml": "2026-11-18T11:15",
    "cplst": "2026-11-18T05:59",
    "cs": "2026-11-18T05:59",
    "dxml": "2026-11-16T23:00",
    "glas": "2026-11-18T11:40",
    "hierarchicalxc": "2026-11-18T13:00",
    "hyperbolic": "2026-11-18T11:15",
    "label-embedding": "2026-11-18T20:40",
    "label-embedding-tree": "2026-11-18T20:40",
    "ml-cssp": "2026-11-18T05:59",
    "neuralxc": "2026-11-16T23:00",
    "parabel": "2026-11-18T06:04",
    "pdsparse": "2026-11-18T06:15",
    "pfastrexml": "2026-11-18T05:47",
    "plst": "2026-11-18T05:59",
    "wsabie": "2026-11-18T05:59",
}

# Where a preset has changed since then for a corpus of this size only.
SINCE_ON = {("dxml", "delicious"): "2026-11-18T20:20"}

# The same for "repaired" alone, where "paper" has stayed what it was.
REPAIRED_SINCE = {
    "balanced-label-tree": "2026-11-18T20:40",
    "label-embedding": "2026-11-18T11:50",
    "label-tree": "2026-11-18T20:40",
}


def presets_table(lines: Sequence[Line]) -> str:
    """Return a line for each method and corpus, and the notes below them."""
    notes: list[str] = []
    done = [line for line in latest(lines) if line["status"] == DONE]
    body = []
    for method in METHODS:
        kinds = presets_of(method)
        for corpus in TEN_SPLITS:
            cells = [_printed(method, corpus, kinds, notes)]
            for preset in ("paper", "repaired"):
                if preset in kinds:
                    cells.append(_measured(done, method, corpus, {"preset": preset}, notes))
                else:
                    cells.append(_nothing(_unrepaired(method, kinds), notes))
            cells.append(_measured(done, method, corpus, {}, notes))
            body.append([f"`{method}`", corpus, *cells])
    below = [f"[{number}] {note}." for number, note in enumerate(notes, start=1)]
    return markdown(list(HEAD), body, numbers=False) + "\n\n" + "<br>".join(below)


def presets_of(method: str) -> tuple[str, ...]:
    """Return the presets that a method has, by the rule of its constructor.

    >>> presets_of("neuralxc")
    ('best', 'paper', 'repaired')
    """
    kind = find(method)
    settings: type[Settings] | None = getattr(kind, "settings_type", None)
    if "preset" not in kind._get_param_names():
        return ()
    if settings is None:
        return ("best", "paper")
    return tuple(sorted(settings.presets))


def _unrepaired(method: str, kinds: Sequence[str]) -> str:
    """Return why a method has no repaired preset."""
    if "paper" not in kinds:
        return NO_PAPER
    return NO_REPAIR


def _printed(method: str, corpus: str, kinds: Sequence[str], notes: list[str]) -> str:
    for one in published():
        if one.ours == method and one.corpus == corpus:
            figures = [one.figures.get(name) for name in FIGURES]
            return " / ".join("–" if value is None else f"{value:.2f}" for value in figures)
    for row in earlier(corpus):
        if method == "annexml" and row.title.startswith("AnnexML C++"):
            figures = [row.figures[name].mean for name in FIGURES]
            cell = " / ".join(f"{value:.2f}" for value in figures)
            return f"{cell} {_mark(PROGRAM, notes)}"
    return _nothing(NOT_PUBLISHED if "paper" in kinds else NO_PAPER, notes)


def _measured(
    lines: Sequence[Line],
    method: str,
    corpus: str,
    parameters: dict[str, object],
    notes: list[str],
) -> str:
    own = [
        line
        for line in lines
        if (line["method"], line["corpus"], line["parameters"]) == (method, corpus, parameters)
        and line["date"] >= since(method, parameters, corpus)
    ]
    random = {line["split"]: line for line in own if line["split"] in RANDOM_SPLITS}
    if len(random) >= FEW:
        figures = [[line["metrics"][name] for line in random.values()] for name in FIGURES]
        means = [Figure.of(values) for values in figures]
        cell = " / ".join(f"{one.mean:.2f} ± {one.deviation:.2f}" for one in means)
        if len(random) == len(RANDOM_SPLITS):
            return cell
        return f"{cell} {_mark(f'{len(random)} random splits', notes)}"
    given = [line for line in own if line["split"] == "given"]
    if not given:
        return _nothing(NOT_RUN, notes)
    told = given[-1]["metrics"]
    cell = " / ".join(f"{told[name]:.2f}" for name in FIGURES)
    return f"{cell} {_mark(ONE_RUN, notes)}"


def since(method: str, parameters: dict[str, object], corpus: str = "") -> str:
    """Return since when runs of a preset count; those of a default always do.

    >>> paper = {"preset": "paper"}
    >>> since("dxml", paper, "bibtex") < since("dxml", paper, "delicious")
    True
    """
    if not parameters:
        return ""
    if (method, corpus) in SINCE_ON:
        return SINCE_ON[method, corpus]
    own = REPAIRED_SINCE if parameters == {"preset": "repaired"} else {}
    return own.get(method, SINCE.get(method, ""))


def _nothing(why: str, notes: list[str]) -> str:
    return f"– {_mark(why, notes)}"


def _mark(note: str, notes: list[str]) -> str:
    if note not in notes:
        notes.append(note)
    return f"[{notes.index(note) + 1}]"
