"""The tables of the page about encoders."""

from __future__ import annotations

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, precisions

PAGE = ROOT / "docs" / "encoders.md"
CORPORA = ("tibkat", "wordnet", "eurlex57k")
VARIANTS = ("words", "better words", "words, encoder", "words, names", "all together")
CUT, ASKED = 6000, 3000
"""Rows of a part of a corpus to learn from, and to ask about."""
LANGUAGES = ("words", "words, encoder")
TUNED = 4_000
"""Rows that a network learns from, or a model that is served."""
CHARS = (80, 400, 1000)
"""Characters of texts that the server is asked about: a title, a short abstract, a long one."""
TUNED_CORPORA = ("tibkat", "eurlex57k")
TUNED_VARIANTS = (
    "words",
    "pieces",
    "pieces of the encoder",
    "pieces of the encoder, kept",
    "default: words",
    "default: words, encoder",
)


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page; what was not measured is not there."""
    return {
        "cuts": _variants(lines, "cuts"),
        "whole": _variants(lines, "whole"),
        "languages": _languages(lines),
        "fine-tuning": _fine_tuning(lines),
        "serving": _serving(lines),
    }


def _variants(lines: list[Measured], part: str) -> str:
    head = ["corpus", "what", "P@1/3/5", "nDCG@1/3/5/10", "PSP@1/3/5", "F1@5"]
    head += ["encoding", "training", "asking"]
    rows = []
    for corpus in CORPORA:
        for variant in VARIANTS:
            for line in select(lines, part=part, corpus=corpus, variant=variant):
                found = line.figures
                cells = [
                    precisions(found, 1),
                    "/".join(f"{found[f'nDCG@{k}']:.1f}" for k in (1, 3, 5, 10)),
                    "/".join(f"{found[f'PSP@{k}']:.1f}" for k in (1, 3, 5)),
                    f"{found['F1@5']:.3f}",
                    _encoding(line),
                    f"{found['train_cpu_s']:.0f} s",
                    f"{found['ask_cpu_ms']:.1f} ms",
                ]
                rows.append([corpus, variant, *cells])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED


def _encoding(line: Measured) -> str:
    """Return the CPU seconds of encoding all rows, from those of some."""
    found = line.figures
    if "encode_cpu_ms" not in found:
        return ""
    n_rows = found["n_train"] + found["n_test"]
    return f"{found['encode_cpu_ms'] * n_rows / 1000:.0f} s"


def _languages(lines: list[Measured]) -> str:
    head = ["", "recall@5", "P@1", "rows learned", "rows asked"]
    rows = []
    for variant in LANGUAGES:
        for line in select(lines, part="languages", variant=variant):
            found = line.figures
            cells = [f"{found['recall@5']:.1f}", f"{found['P@1']:.1f}"]
            rows.append([variant, *cells, f"{found['n_train']:,}", f"{found['n_test']:,}"])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED


def _fine_tuning(lines: list[Measured]) -> str:
    head = ["corpus", "what", "P@1/3/5", "nDCG@5", "F1@5", "training"]
    rows = []
    for corpus in TUNED_CORPORA:
        for variant in TUNED_VARIANTS:
            for line in select(lines, part="fine-tuning", corpus=corpus, variant=variant):
                found = line.figures
                cells = [precisions(found, 1), f"{found['nDCG@5']:.1f}", f"{found['F1@5']:.3f}"]
                rows.append([corpus, variant, *cells, f"{found['train_cpu_s']:.0f} s"])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED


def _serving(lines: list[Measured]) -> str:
    head = ["characters", "p50", "p99", "CPU of the server", "load of the machine"]
    rows = []
    for n_chars in CHARS:
        for line in select(lines, part="serving", parameters={"chars": n_chars}):
            found = line.figures
            cells = [f"{found[name]:.1f} ms" for name in ("p50_ms", "p99_ms", "cpu_ms")]
            rows.append([f"{n_chars:,}", *cells, f"{found['load_average']:.1f}"])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED
