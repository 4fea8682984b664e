"""Markdown tables: accuracy and cost per corpus, and the papers' figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarks.render.references import Published
from benchmarks.render.rows import ACCURACY, COST, Figure, Row

COST_TITLES = ("train CPU s", "predict ms/row", "model MiB", "peak MiB")


def accuracy_table(rows: Sequence[Row]) -> str:
    """Return the table of one corpus; the best of each accuracy column is bold, notes are below."""
    if not rows:
        return "No runs yet."
    best = {
        name: max((row.figures[name].mean for row in _measured(rows, name)), default=math.nan)
        for name in ACCURACY
    }
    notes: list[str] = []
    body = []
    for row in rows:
        title = row.title if row.kind != "earlier" else f"*{row.title}* (reported earlier)"
        title = marked(title, row.note, notes)
        cells = [score(row.figures.get(name), best[name]) for name in ACCURACY]
        body.append([title, *cells, *(amount(row.figures.get(name)) for name in COST)])
    return with_notes(markdown(["method", *ACCURACY, *COST_TITLES], body), notes)


def summary_table(
    by_corpus: Mapping[str, Sequence[Row]],
    names: Sequence[str],
    everything: Mapping[str, Sequence[Row]] | None = None,
) -> str:
    """Return one line a method and one column a corpus; the best of each figure is bold.

    Of ``everything`` that was measured, the last line names the best for each corpus and figure.
    """
    titles = dict.fromkeys(row.title for rows in by_corpus.values() for row in rows)
    cells: dict[str, list[str]] = {title: [] for title in titles}
    for rows in by_corpus.values():
        of = {row.title: row.figures for row in rows}
        best = {
            name: max(row.figures[name].mean for row in _measured(rows, name)) for name in names
        }
        for title in titles:
            figures = of.get(title, {})
            cells[title].append(" / ".join(score(figures.get(name), best[name]) for name in names))
    body = [[title, *cells[title]] for title in titles]
    if everything is not None:
        body.append(["best of all", *(_best_of_all(everything[one], names) for one in by_corpus)])
    return markdown(["", *by_corpus], body)


def papers_table(
    rows: Sequence[Row], figures: Sequence[Published], title: str, given: Sequence[Row] = ()
) -> str:
    """Return a paper's figures with ours beside them, where we have a method of that kind.

    ``rows`` are those of ten splits; of a method that has none there, what it has on the files as
    ``given`` is shown and marked.
    """
    ours = {row.method: row for row in given if row.figures}
    noted = dict.fromkeys(ours, "the files as given, not ten splits")
    for row in rows:
        if row.figures:
            ours[row.method], noted[row.method] = row, row.note
    names = [name for name in ACCURACY if any(name in one.figures for one in figures)]
    columns = [name for name in names for name in (f"{name} paper", f"{name} ours")]
    notes: list[str] = []
    body = []
    for one in figures:
        cells = []
        for name in names:
            measured = ours[one.ours].figures.get(name) if one.ours in ours else None
            cells += [printed(one.figures.get(name)), score(measured, math.nan)]
        method = one.method if not one.ours else f"{one.method} → {one.ours}"
        body.append([marked(method, noted.get(one.ours, ""), notes), *cells])
    return with_notes(f"{title}\n\n" + markdown(["method", *columns], body), notes)


def published_table(figures: Sequence[Published]) -> str:
    """Return figures of a corpus that we have not run."""
    names = [name for name in ACCURACY if any(name in one.figures for one in figures)]
    body = [
        [one.method, one.source, *(printed(one.figures.get(name)) for name in names)]
        for one in figures
    ]
    return markdown(["method", "source", *names], body)


def markdown(head: Sequence[str], body: Sequence[Sequence[str]], *, numbers: bool = True) -> str:
    """Return a table; all but its first column to the right where these are plain ``numbers``.

    >>> print(markdown(["method", "P@1"], [["knn", "57.0"]]))
    | method | P@1 |
    |---|--:|
    | knn | 57.0 |
    """
    lines = [head, *body]
    written = [f"| {' | '.join(cells)} |" for cells in lines]
    written.insert(1, "|---|" + ("--:|" if numbers else "---|") * (len(head) - 1))
    return "\n".join(written)


def _best_of_all(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return who is best by each figure, once if it is the same system."""
    best = [max(_measured(rows, name), key=lambda row: row.figures[name].mean) for name in names]
    return " / ".join(dict.fromkeys(row.title for row in best))


def marked(title: str, note: str, notes: list[str]) -> str:
    """Return the title with the number of its note, which is added to ``notes`` where it is new."""
    if not note:
        return title
    if note not in notes:
        notes.append(note)
    return f"{title} [{notes.index(note) + 1}]"


def with_notes(table: str, notes: Sequence[str]) -> str:
    """Return a table with its notes, numbered, below it."""
    told = [f"[{number}] {note}." for number, note in enumerate(notes, start=1)]
    return "\n".join([table, "", "<br>".join(told)]) if told else table


def _measured(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row.kind != "earlier" and name in row.figures]


def score(figure: Figure | None, best: float = math.nan) -> str:
    """Write a mean and its deviation; the best one is bold."""
    if figure is None:
        return "–"
    text = f"{figure.mean:.2f}"
    if figure.mean == best:
        text = f"**{text}**"
    return text if math.isnan(figure.deviation) else f"{text} ± {figure.deviation:.2f}"


def amount(figure: Figure | None) -> str:
    """Write seconds and megabytes with about two digits; nobody needs more of a shared machine."""
    if figure is None:
        return "–"
    value = figure.mean
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def printed(value: float | None) -> str:
    """Write what a publication has, or a dash."""
    return "–" if value is None else f"{value:.2f}"
