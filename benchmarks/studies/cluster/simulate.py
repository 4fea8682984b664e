"""Amazon-3M on 1 to 256 workers, played through from what blocks were measured to take.

    python -m benchmarks.studies.cluster.simulate

reads the lines that ``blocks`` left, writes the table into ``docs/cluster.md`` and the plot beside
it. Stages come one after another, and within one each worker takes the next block when it is done
with its last. What is played:

- the time of a block: what the stage costs for each unit (rows, label entries), times the units of
  the block, spread as measured; a label entry costs classifiers more where they are many, by the
  power that the smallest and the largest run tell;
- stragglers: one worker of fifty runs at a third of the speed;
- shuffles: each machine of 16 workers reads a stage's inputs from the shared folder once, all
  machines together at most at the folder's speed, and the driver reads all blocks back;
- the serial rest: what the driver does alone, for each row, and to learn stacking from those held
  out.
"""

from __future__ import annotations

import heapq
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies import lines
from benchmarks.studies.cluster.blocks import (
    FEATURES,
    FEATURES_PER_ROW,
    LABELS,
    LABELS_PER_ROW,
    ROWS,
    STUDY,
)

WORKERS = (1, 2, 4, 16, 64, 256)
PER_MACHINE = 16
MACHINE_READS, FOLDER_READS, DRIVER_READS = 1.2e9, 5e9, 1.2e9  # bytes a second
SLOW_SHARE, SLOWNESS = 0.02, 3.0
HELD_OUT, HELD_OUT_SHARE = 4000, 0.1  # rows, at most, and below that
PAGE = Path("docs/cluster.md")
PLOT = Path("docs/assets/cluster-scaling.svg")
STAGES = ("label graph", "learning the space", "neighbours", "training classifiers")


class Stage(NamedTuple):
    """Work that is cut: processor seconds in all, blocks, and bytes that are read and given."""

    name: str
    cpu: float
    n_blocks: int
    spread: float
    reads: float
    gives: float


def main() -> None:
    """Play, and write the page and the plot."""
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw(simulated())


def rendered(page: str) -> str:
    """Return the page with the tables of what was measured and what follows from it."""
    known = lines.read(STUDY)
    page = put(page, "measured", measured_table(lines.select(known, part="blocks")))
    page = put(page, "alone", alone_table(lines.select(known, part="alone")))
    return put(page, "simulated", table(simulated()))


def simulated() -> dict[int, dict[str, float]]:
    """Return the seconds of each stage by the number of workers."""
    known = lines.select(lines.read(STUDY), part="blocks", parameters={"n_workers": 1})
    figures = [dict(line.figures) for line in known]
    stages, serial = amazon(figures), driver_seconds(figures)
    return {n: play(stages, serial, n) for n in WORKERS}


def put(page: str, name: str, text: str) -> str:
    """Return a page with ``text`` between its two marks."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def measured_table(known: list[lines.Measured]) -> str:
    """Return what was measured as a table of Markdown."""
    rows = [
        "| rows | labels | labels given | workers | graph | space | neighbours | classifiers | "
        "of a given label | their blocks' spread | driver alone | classifiers, begun to end |",
        "|" + "---:|" * 12,
    ]
    for line in known:
        told = line.figures
        cpu = [f"{told[stage]['cpu_s']:.2f} s" for stage in STAGES]
        each = 1e6 * told[STAGES[-1]]["cpu_s"] / told["n_given"]
        spread = 100 * told[STAGES[-1]]["spread"]
        counts = [f"{told[name]:,}" for name in ("n_rows", "n_labels", "n_given")]
        cells = [*counts, line.variant, *cpu, f"{each:.1f} µs", f"{spread:.0f} %"]
        last = f"{told[STAGES[-1]]['begun_to_end_s']:.0f} s"
        driver = f"{told['driver_cpu_s']:.1f} s"
        rows.append(f"| {' | '.join([*cells, driver, last])} |")
    return "\n".join(rows)


def alone_table(known: list[lines.Measured]) -> str:
    """Return what one machine alone needs, as a table of Markdown."""
    rows = [
        "| shape | part of it | rows | labels | labels given | CPU s | of a given label | memory | "
        "of a label |",
        "|---|" + "---:|" * 8,
    ]
    for line in sorted(known, key=lambda line: (line.corpus, line.figures["n_rows"])):
        told = line.figures
        counts = [f"{told[name]:,}" for name in ("n_rows", "n_labels", "n_given")]
        each = 1e6 * told["train_cpu_s"] / told["n_given"]
        grown = 1024 * (told["peak_mib"] - told["before_mib"]) / told["n_labels"]
        shape = "a fifth of the rows of Amazon-3M" if "3m" in line.corpus else "Amazon-670K"
        cells = [shape, f"1/{1 / float(line.variant):.3g}", *counts, f"{told['train_cpu_s']:.0f}"]
        memory = f"{told['peak_mib'] / 1024:.2f} GiB"
        rows.append(f"| {' | '.join([*cells, f'{each:.0f} µs', memory, f'{grown:.1f} KiB'])} |")
    return "\n".join(rows)


def amazon(known: list[dict[str, Any]]) -> list[Stage]:
    """Return the stages of the whole corpus: what was measured, times how much more there is."""
    measured = max(known, key=_n_rows)
    more_rows = ROWS / measured["n_rows"]
    given = ROWS * LABELS_PER_ROW
    more_given = given / measured["n_given"]
    rows = 8.0 * ROWS * FEATURES_PER_ROW + 4.0 * given
    vectors = 128.0 * (ROWS + 4.0 * FEATURES)

    def stage(name: str, more: float, n_blocks: int, reads: float) -> Stage:
        told = measured[name]
        gives = told["mib"] * 2**20 * more_rows
        return Stage(name, told["cpu_s"] * more, n_blocks, max(told["spread"], 0.08), reads, gives)

    return [
        stage("label graph", more_rows, -(-ROWS // 8192), 8.0 * given),
        stage("learning the space", more_rows, measured["learning the space"]["n_blocks"], rows),
        # Each of n keys looks into 8 lists of √n keys.
        stage("neighbours", more_rows**1.5, 64, vectors),
        stage(
            STAGES[-1], more_given ** (1.0 + dearer(known)), -(-LABELS // 512), rows + 4.0 * given
        ),
    ]


def dearer(known: list[dict[str, Any]]) -> float:
    """Return by which power of the given labels the classifiers' cost for each of them grows."""
    small, large = min(known, key=_n_rows), max(known, key=_n_rows)
    each = [told[STAGES[-1]]["cpu_s"] / told["n_given"] for told in (small, large)]
    more = large["n_given"] / small["n_given"]
    return max(float(np.log(each[1] / each[0]) / np.log(more)), 0.0) if more > 1 else 0.0


def driver_seconds(known: list[dict[str, Any]]) -> float:
    """Return what the driver does alone: learning to stack, from rows held out, and the rest.

    The rest, by row, is told by the largest run that timed stacking by itself; what is more than
    that in the largest of all is stacking, which costs more for a row where labels are more.
    """
    apart = max((told for told in known if "stacking_cpu_s" in told), key=_n_rows)
    rest = (apart["driver_cpu_s"] - apart["stacking_cpu_s"]) / apart["n_rows"]
    largest = max(known, key=_n_rows)
    stacking = largest["driver_cpu_s"] - rest * largest["n_rows"]
    return rest * ROWS + stacking / (HELD_OUT_SHARE * largest["n_rows"]) * HELD_OUT


def _n_rows(told: dict[str, Any]) -> int:
    return int(told["n_rows"])


def play(stages: list[Stage], serial: float, n_workers: int) -> dict[str, float]:
    """Return the seconds of each stage with so many workers, of shuffles, and of the rest."""
    rng = np.random.default_rng(0)
    speeds = np.ones(n_workers)
    speeds[rng.permutation(n_workers)[: int(SLOW_SHARE * n_workers)]] /= SLOWNESS
    took: dict[str, float] = {}
    shuffles = 0.0
    for stage in stages:
        sigma = np.sqrt(np.log1p(stage.spread**2))
        times = rng.lognormal(-(sigma**2) / 2, sigma, stage.n_blocks)
        times *= stage.cpu / times.sum()
        free = [(0.0, worker) for worker in range(n_workers)]
        ends = 0.0
        for seconds in times:
            at, worker = heapq.heappop(free)
            at += seconds / speeds[worker]
            ends = max(ends, at)
            heapq.heappush(free, (at, worker))
        took[stage.name] = ends
        n_machines = min(-(-n_workers // PER_MACHINE), stage.n_blocks)
        shuffles += stage.reads / min(MACHINE_READS, FOLDER_READS / n_machines)
        shuffles += stage.gives / DRIVER_READS
    return {**took, "shuffles": shuffles, "driver alone": serial}


def table(played: dict[int, dict[str, float]]) -> str:
    """Return the seconds as a table of Markdown."""
    names = list(next(iter(played.values())))
    head = f"| workers | {' | '.join(names)} | all | faster | busy |"
    rows = [head, "|" + "---:|" * (len(names) + 4)]
    alone = sum(played[WORKERS[0]].values())
    for n, seconds in played.items():
        total = sum(seconds.values())
        cells = [f"{seconds[name]:,.0f}" for name in names]
        faster = alone / total
        told = f"{total:,.0f} | {faster:.1f} | {100 * faster / n:.0f} %"
        rows.append(f"| {n} | {' | '.join(cells)} | {told} |")
    return "\n".join(rows)


def draw(played: dict[int, dict[str, float]]) -> None:
    """Draw where the time goes with more and more workers."""
    import matplotlib.pyplot as plt

    names = list(next(iter(played.values())))
    figure, axes = plt.subplots(figsize=(7, 3.6))
    below = np.zeros(len(played))
    for name in names:
        heights = np.array([seconds[name] for seconds in played.values()])
        axes.bar([str(n) for n in played], heights / 60, bottom=below / 60, label=name)
        below += heights
    axes.set_xlabel("workers")
    axes.set_ylabel("minutes")
    axes.set_title("Amazon-3M, simulated from measured blocks")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
