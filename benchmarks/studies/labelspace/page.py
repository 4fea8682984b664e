"""Tables of LabelSpace's page."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.promises import scale_table, size
from benchmarks.studies.study import Trial
from benchmarks.studies.tables import NOT_MEASURED, mean_figures, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "labelspace.md"
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0,), "debtags": (0,), "wordnet": (0,)}
"""Corpora and the splits that each can afford."""
SETTINGS: dict[str, dict[str, Any]] = {
    "one space": {"n_learners": 1},
    "two spaces": {"n_learners": 2},
    "with ten trees of rows": {"settings": {"n_row_trees": 10}},
}
CUTS = {
    "debtags": (2_000, 7_000, 9_500, 10_500, 20_000),
    "wordnet": (7_200, 19_500, 20_500, 24_000, 72_000),
}
"""Rows to learn from: a tenth, a third, all, and both sides of where settings begin to change."""
COMPARED = {"labelspace": 5, "one-vs-all": 2, "annexml": 2}
"""Methods, and on how many of the cuts, smallest first."""
UPDATED = ("debtags", "wordnet")
GOALS = {"f1": "f1", "precise": "precision=0.9"}
"""Thresholds whose precision and recall are counted, by their names in the figures."""
SIZES = [size(50_000), size(100_000), size(490_449)]


def evidence() -> list[Trial]:
    """Return the default on every corpus, then with fewer spaces, and with trees of rows."""
    return [
        Trial("evidence", corpus, variant, parameters, seed)
        for variant, parameters in {"": {}, **SETTINGS}.items()
        for corpus, seeds in CORPORA.items()
        for seed in seeds
    ]


def cuts() -> list[Trial]:
    """Return each method on the cuts that it is measured on, small ones first."""
    return [
        Trial("cuts", corpus, method, {"rows": rows})
        for corpus, sizes in CUTS.items()
        for at, rows in enumerate(sizes)
        for method, n_cuts in COMPARED.items()
        if at < n_cuts
    ]


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    columns = ["rows", "labels", "training, CPU s", "peak memory", "model", "P@5"]
    columns += ["a row in batches", "a row alone"]
    return {
        "evidence": _evidence(lines),
        "cuts": _cuts(lines),
        "updates": _updates(lines),
        "calibration": _calibration(lines),
        "scale": scale_table(lines, SIZES, columns),
    }


def _evidence(lines: list[Measured]) -> str:
    """Return means over splits, a dash where nothing was measured."""
    head = ["what", *(f"{name}: P@1/3/5, nDCG@5, PSP@5" for name in CORPORA)]
    kinds = dict.fromkeys(line.variant for line in select(lines, part="evidence"))
    order = ["", *(kind for kind in kinds if kind and kind not in SETTINGS), *SETTINGS]
    rows = [
        [kind or "as it is", *(_cell(lines, corpus, kind) for corpus in CORPORA)] for kind in order
    ]
    return of_variants(head, rows)


def _cell(lines: list[Measured], corpus: str, what: str) -> str:
    found = select(lines, part="evidence", corpus=corpus, variant=what)
    if not found:
        return NOT_MEASURED
    mean = mean_figures([line.figures for line in found])
    return f"{precisions(mean, 2)}, {mean['nDCG@5']:.2f}, {mean['PSP@5']:.2f}"


def _cuts(lines: list[Measured]) -> str:
    head = ["corpus", "rows", *(f"{name}: P@1/3/5, CPU s" for name in COMPARED)]
    rows = []
    for corpus, sizes in CUTS.items():
        for size_ in sizes:
            cells = []
            for method in COMPARED:
                found = select(
                    lines, part="cuts", corpus=corpus, variant=method, parameters={"rows": size_}
                )
                cells.append(
                    f"{precisions(found[0].figures, 2)}, {found[0].figures['cpu_s']:.0f}"
                    if found
                    else NOT_MEASURED
                )
            if set(cells) != {NOT_MEASURED}:
                rows.append([corpus, f"{size_:,}", *cells])
    return markdown(head, rows, numbers=False)


def _updates(lines: list[Measured]) -> str:
    moments = ("before", "after", "trained again")
    head = ["corpus", *(f"{when}: P@1/3/5, ECE" for when in moments)]
    rows = []
    for line in select(lines, part="updates"):
        cells = []
        for when in moments:
            told = {f"P@{k}": line.figures[f"P@{k} {when}"] for k in (1, 3, 5)}
            cells.append(f"{precisions(told, 2)}, {line.figures[f'ECE {when}']:.1f}")
        rows.append([line.corpus, *cells])
    return markdown(head, rows, numbers=False)


def _calibration(lines: list[Measured]) -> str:
    head = ["corpus", "ECE, held out", "ECE, test", "F1 of `k=5`", 'F1 of `"f1"`']
    head += ['precision, recall of `"f1"`', 'precision, recall of `"precision=0.9"`']
    rows = []
    for corpus in BY_SIZE:
        for line in select(lines, part="calibration", corpus=corpus):
            names = ("ECE held out", "ECE test", "F1 k=5", "F1 f1")
            cells = [f"{line.figures[name]:.1f}" for name in names]
            for kind in GOALS:
                pair = (line.figures.get(f"{name} {kind}") for name in ("precision", "recall"))
                cells.append(
                    ", ".join(NOT_MEASURED if one is None else f"{one:.1f}" for one in pair)
                )
            rows.append([corpus, *cells])
    return markdown(head, rows, numbers=False)
