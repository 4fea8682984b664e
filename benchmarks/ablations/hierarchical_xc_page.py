"""Tables and plots of HierarchicalXC's page, from what ``hierarchical_xc`` has measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchmarks import results
from benchmarks.corpora import BY_SIZE, ROOT

PAGE = ROOT / "docs" / "methods" / "hierarchicalxc.md"
PLOT = ROOT / "docs" / "assets" / "hierarchicalxc.svg"
KS = (1, 2, 3, 4, 5)
BESIDE = ("hierarchicalxc", "label-tree", "one-vs-all", "omikuji-parabel", "napkinxc-plt")
"""Methods of the common benchmarks that are shown: trees of labels, and no tree."""
Line = dict[str, Any]


def render(lines: Sequence[Line]) -> None:
    """Write the tables into the page, each between its two marks, and draw the plot."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {"report": report, "variants": variants, "figures": figures, "clusters": clusters}
    for part, table in tables.items():
        here = [line for line in lines if line["part"] == part]
        if part == "variants":
            here = _defaults(lines) + here
        if part in ("variants", "figures"):
            here = sorted(here, key=_place)
        block = re.compile(rf"(<!-- {part} -->\n).*?(<!-- {part}: end -->)", re.DOTALL)
        text = block.sub(lambda found, here=here, table=table: _between(found, table(here)), text)
    block = re.compile(r"(<!-- corpora -->\n).*?(<!-- corpora: end -->)", re.DOTALL)
    text = block.sub(lambda found: _between(found, beside()), text)
    PAGE.write_text(text, encoding="utf-8")
    plot(sorted((line for line in lines if line["part"] == "figures"), key=_place))


def _place(line: Line) -> tuple[int, bool]:
    """Smaller corpora first, and the method itself before others."""
    return BY_SIZE.index(line["corpus"]), line["name"] not in ("hierarchicalxc", "default")


def beside() -> str:
    """Return a table of this method and others on all corpora, from the common benchmarks."""
    rows = [
        "| corpus | method | P@1 | P@3 | P@5 | training, CPU s | training, MiB | model, MiB "
        "| ms a row |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    asked = {"split": "given", "status": results.DONE, "parameters": {}, "seed": 0}
    lines = [line for line in results.latest(results.read_lines()) if asked.items() <= line.items()]
    for corpus in BY_SIZE:
        for method in BESIDE:
            for line in lines:
                if (line["corpus"], line["method"]) == (corpus, method):
                    cells = [f"{line['metrics'][name]:.2f}" for name in ("P@1", "P@3", "P@5")]
                    cells += [f"{line['train_cpu_s']:.1f}", f"{line['train_peak_mib']:,.0f}"]
                    cells += [f"{line['model_mib']:,.0f}", f"{line['batch_cpu_ms']:.3f}"]
                    rows.append(f"| {corpus} | {method} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def report(lines: Sequence[Line]) -> str:
    rows = [
        "| bibtex, 1,200 rows | train P@5 | train nDCG@5 | test P@1 | test P@5 | test nDCG@5 |",
        "|---|---|---|---|---|---|",
        "| *the report, all rows* | *3.96* | *2.66* | – | *4.10* | *2.69* |",
    ]
    for line in sorted(lines, key=lambda line: line["name"] in ("most-common", "random")):
        train, test = line["train"], line["test"]
        cells = [train["P@5"], train["nDCG@5"], test["P@1"], test["P@5"], test["nDCG@5"]]
        rows.append(f"| {line['name']} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    return "\n".join(rows)


def variants(lines: Sequence[Line]) -> str:
    parts = []
    for corpus in dict.fromkeys(line["corpus"] for line in lines):
        rows = [
            f"| {corpus} | P@1 | P@3 | P@5 | ECE | nodes visited | of all | depth "
            "| training, CPU s |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for line in (one for one in lines if one["corpus"] == corpus):
            test = line["test"]
            cells = [f"{test[name]:.2f}" for name in ("P@1", "P@3", "P@5")]
            cells.append(f"{line['ECE']:.1f}" if "ECE" in line else "–")
            cells += [f"{line['visited']:,.0f}", f"{_share(line):.1f} %", str(line["depth"])]
            cells.append(f"{line['train_cpu_s']:.1f}" if "train_cpu_s" in line else "–")
            rows.append(f"| {line['name']} | " + " | ".join(cells) + " |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def figures(lines: Sequence[Line]) -> str:
    parts = []
    for measure in ("P", "nDCG"):
        rows = [
            f"| {measure}@k | rows | method | " + " | ".join(f"@{k}" for k in KS) + " |",
            "|---|---|---|" + "---|" * len(KS),
        ]
        for line in lines:
            for side in ("train", "test"):
                cells = [f"{line[side][f'{measure}@{k}']:.2f}" for k in KS]
                start = f"| {line['corpus']} | {side} | {line['name']} | "
                rows.append(start + " | ".join(cells) + " |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def clusters(lines: Sequence[Line]) -> str:
    rows = [
        "| corpus | labels | linked pairs | likeness | merges without a link | depth, plain "
        "| depth, balanced | mean depth, balanced | CPU s, plain | CPU s, balanced |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        cells = [line["corpus"], f"{line['n_labels']:,}", f"{line['n_links']:,}", line["name"]]
        cells += [f"{line['n_unlinked']:,}", f"{line['plain_depth']:,}"]
        cells += [str(line["balanced_depth"]), f"{line['balanced_mean_depth']:.1f}"]
        cells += [f"{line['plain_cpu_s']:.2f}", f"{line['balanced_cpu_s']:.2f}"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def plot(lines: Sequence[Line]) -> None:
    """Draw P@k and nDCG@k on train and test, a panel for each corpus and measure."""
    from matplotlib import pyplot as plt

    shown = list(dict.fromkeys(line["corpus"] for line in lines))
    if not shown:
        return
    figure, panels = plt.subplots(
        2, len(shown), figsize=(3 * len(shown), 5.5), layout="constrained", squeeze=False
    )
    for row, measure in enumerate(("P", "nDCG")):
        for panel, corpus in zip(panels[row], shown, strict=True):
            for line in (one for one in lines if one["corpus"] == corpus):
                colour = "tab:gray" if line["name"] == "random" else "tab:blue"
                for side, style in (("train", "o--"), ("test", "o-")):
                    heights = [line[side][f"{measure}@{k}"] for k in KS]
                    name = f"{line['name']}, {side}"
                    panel.plot(KS, heights, style, color=colour, label=name, markersize=3)
            panel.set(title=f"{corpus}, {measure}@k", xticks=KS, ylim=(0, 100))
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.savefig(PLOT, metadata={"Date": None})


def _defaults(lines: Sequence[Line]) -> list[Line]:
    """Return the default as measured for the figures, where no variant says so."""
    done = {(line["corpus"], line["name"]) for line in lines if line["part"] == "variants"}
    return [
        line | {"name": "default"}
        for line in lines
        if line["part"] == "figures"
        and line["name"] == "hierarchicalxc"
        and (line["corpus"], "default") not in done
    ]


def _between(found: re.Match[str], table: str) -> str:
    return f"{found[1]}\n{table}\n\n{found[2]}"


def _share(line: Line) -> float:
    return 100.0 * line["visited"] / line["n_nodes"]
