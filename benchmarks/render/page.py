"""Fill the blocks of a page of the documentation.

People write the page; a block says what belongs in a place, and rendering writes it there:

    <!-- benchmarks: accuracy corpus=wordnet split=given -->
    (whatever stands here is replaced)
    <!-- benchmarks: end -->

Blocks: ``accuracy corpus= [split=given|ten] [methods=a,b] [variants=yes]``, ``plot corpus=``,
``papers corpus=``, ``presets``, ``figures methods=a,b``, ``summary figures=P@1,P@5 methods=a,b
[best=all]``, ``published``, ``machine``. A corpus with runs but without a block is added at the end
of the main page, so nothing stays unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.of_methods import figures_table
from benchmarks.render.plots import cost_plot
from benchmarks.render.presets import presets_table
from benchmarks.render.references import earlier, published
from benchmarks.render.rows import Row, gather
from benchmarks.render.tables import accuracy_table, papers_table, published_table, summary_table
from benchmarks.results import Line, latest

PAGE = ROOT / "docs" / "benchmarks.md"
METHODS = ROOT / "docs" / "methods"
OF_METHODS = (
    "label-compression",
    "leml",
    "parabel",
    "robustxml",
    "row-trees",
    "sleec",
    "sparse-margins",
    "wsabie",
)
"""Pages of methods that have a block of figures."""
PAGES = (PAGE, ROOT / "README.md", *(METHODS / f"{name}.md" for name in ("index", *OF_METHODS)))
BLOCK = re.compile(
    r"(<!-- benchmarks: (?P<what>(?!end)[^>]*?) -->\n).*?(<!-- benchmarks: end -->)", re.DOTALL
)

Options = dict[str, str]


def fill_page(page: Path, lines: list[Line]) -> list[Path]:
    """Rewrite the blocks of ``page`` and return the files that were written."""
    written = [page]
    assets = page.parent / "assets"

    def fill(block: re.Match[str]) -> str:
        name, options = parse_block(block["what"])
        if name not in BLOCKS:
            raise SystemExit(
                f"{page.name} asks for a block {name!r}: there are {', '.join(sorted(BLOCKS))}."
            )
        text = BLOCKS[name](lines, options, assets)
        if name == "plot" and text:
            written.append(assets / _plot_name(options["corpus"]))
        return f"{block[1]}\n{text}\n\n{block[3]}" if text else f"{block[1]}{block[3]}"

    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if page == PAGE:
        text += _missing_blocks(text, lines)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(BLOCK.sub(fill, text))
    return written


def parse_block(text: str) -> tuple[str, Options]:
    """Return a block's name and options.

    >>> parse_block("accuracy corpus=wordnet split=given")
    ('accuracy', {'corpus': 'wordnet', 'split': 'given'})
    """
    name, *options = text.split()
    return name, dict(option.split("=", 1) for option in options)


def _accuracy(lines: list[Line], options: Options, assets: Path) -> str:
    return accuracy_table(_rows(lines, options))


def _plot(lines: list[Line], options: Options, assets: Path) -> str:
    corpus = options["corpus"]
    name = _plot_name(corpus)
    if not cost_plot(_rows(lines, options), corpus, assets / name):
        return ""
    return f"![P@1 against CPU seconds of training on {corpus}](assets/{name})"


def _papers(lines: list[Line], options: Options, assets: Path) -> str:
    rows = gather(lines, options["corpus"], options.get("split", "ten"))
    given = gather(lines, options["corpus"])
    of_corpus = [one for one in published() if one.corpus == options["corpus"]]
    sources = list(dict.fromkeys(one.source for one in of_corpus))
    return "\n\n".join(
        papers_table(rows, [one for one in of_corpus if one.source == source], f"{source}:", given)
        for source in sources
    )


def _summary(lines: list[Line], options: Options, assets: Path) -> str:
    names = options["figures"].split(",")
    methods = options["methods"].split(",")
    by_corpus = {
        corpus: sorted(
            (row for row in gather(lines, corpus, methods=methods) if row.figures),
            key=lambda row: methods.index(row.method),
        )
        for corpus in BY_SIZE
    }
    everything = {corpus: gather(lines, corpus) for corpus in by_corpus}
    shown = {name: rows for name, rows in by_corpus.items() if rows}
    return summary_table(shown, names, everything if options.get("best") == "all" else None)


def _figures(lines: list[Line], options: Options, assets: Path) -> str:
    return figures_table(lines, options["methods"].split(","))


def _presets(lines: list[Line], options: Options, assets: Path) -> str:
    return presets_table(lines)


def _published(lines: list[Line], options: Options, assets: Path) -> str:
    measured = {line["corpus"] for line in lines}
    figures = [one for one in published() if one.corpus not in measured]
    names = sorted({one.corpus for one in figures})
    return "\n\n".join(
        f"**{name}**\n\n" + published_table([one for one in figures if one.corpus == name])
        for name in names
    )


def _machine(lines: list[Line], options: Options, assets: Path) -> str:
    if not lines:
        return "No runs yet."
    shown = latest(lines)
    machines = sorted(
        {f"{line['machine']['cpu']}, {line['machine']['cores']} cores" for line in shown}
    )
    threads = sorted({str(line["n_threads"]) for line in shown})
    versions = sorted({line["version"] for line in shown})
    dates = sorted(line["date"][:10] for line in shown)
    loads = [line["machine"]["load_average"] for line in shown]
    return "\n".join(
        [
            f"- machine: {'; '.join(machines)}; threads per system: {', '.join(threads)}",
            f"- dates: {dates[0]} to {dates[-1]}; runs: {len(shown)}",
            f"- versions: {', '.join(versions)}",
            f"- load average of the machine during the runs: {min(loads):.1f} to {max(loads):.1f}",
        ]
    )


BLOCKS: dict[str, Callable[[list[Line], Options, Path], str]] = {
    "accuracy": _accuracy,
    "plot": _plot,
    "papers": _papers,
    "presets": _presets,
    "figures": _figures,
    "summary": _summary,
    "published": _published,
    "machine": _machine,
}


def _rows(lines: list[Line], options: Options) -> list[Row]:
    split = options.get("split", "given")
    methods = [name for name in options.get("methods", "").split(",") if name]
    variants = options.get("variants") == "yes"
    rows = gather(lines, options["corpus"], split, methods=methods, variants=variants)
    if split == "given" and not methods:
        rows += earlier(options["corpus"])
    return rows


def _missing_blocks(text: str, lines: list[Line]) -> str:
    asked = [parse_block(block["what"]) for block in BLOCK.finditer(text)]
    there = {(o.get("corpus"), o.get("split", "given")) for name, o in asked if name == "accuracy"}
    found = {
        (line["corpus"], "given" if line["split"] == "given" else "ten")
        for line in lines
        if not line["parameters"]
    }
    order = {name: place for place, name in enumerate(BY_SIZE)}
    added = ""
    for corpus, split in sorted(found - there, key=lambda at: (order.get(at[0], 99), at)):
        title = corpus if split == "given" else f"{corpus}, ten random splits"
        added += f"\n## {title}\n\n" + _block(f"accuracy corpus={corpus} split={split}")
        if split == "given":
            added += "\n" + _block(f"plot corpus={corpus}")
    return added


def _block(what: str) -> str:
    return f"<!-- benchmarks: {what} -->\n<!-- benchmarks: end -->\n"


def _plot_name(corpus: str) -> str:
    return f"benchmark-{corpus}.svg"
