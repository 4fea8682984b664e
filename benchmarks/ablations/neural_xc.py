"""What each part of NeuralXC is worth: ``python -m benchmarks.ablations.neural_xc``.

Two sets of runs. *Parts* changes one choice at a time: weights of the reconstructions, dimension,
sampling, what encoders are shown. One network is trained for each, on bibtex and on 4,000 rows of
delicious; with and without the reconstructions, three seeds are. *Figures* has P@k and nDCG@k for
k = 1 … 5 on training and test rows, as in the report's figures 3 to 6, beside other methods;
eurlex57k and wordnet are cut to 5,000 training rows.

Every run adds a line to ``results/ablations/neural_xc.jsonl`` and is not made again; tables and
plots of the method's page are written from these lines alone (``--render`` does only that).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz

from benchmarks.corpora import BY_SIZE, ROOT, prepare
from benchmarks.measure import Stopwatch
from benchmarks.render.marked import put
from labelspace import metrics, models

LINES = ROOT / "benchmarks" / "results" / "ablations" / "neural_xc.jsonl"
PAGE = ROOT / "docs" / "methods" / "neuralxc.md"
PICTURES = ROOT / "docs" / "assets"
KS = (1, 2, 3, 4, 5)
MEASURED_ROWS = 2000

# Corpus: training rows.
PART_CORPORA = {"bibtex": None, "delicious": 4000}
PARTS: dict[str, list[dict[str, Any]]] = {
    "as it is": [{}],
    "reconstructions": [{"alpha": 0.0}, {"beta": 0.0}, {"alpha": 0.0, "beta": 0.0}],
    "linear map": [{"linear_dim": 0}, {"linear_dim": 512}],
    "α": [{"alpha": 0.1}, {"alpha": 10.0}],
    "β": [{"beta": 0.1}, {"beta": 10.0}],
    "dimension": [{"dim": dim, "label_dim": dim} for dim in (32, 64, 128, 512)],
    "sampling": [{"n_zeros": 64}, {"n_sampled": 64}, {"n_rebuilt": 256, "n_zeros": 2048}],
    "shown to encoders": [{"keep_features": 1.0}, {"keep_labels": 1.0}],
    "scores": [{"cosine": 0.0}],
    "network": [{"hidden": ()}, {"hidden": (512,)}, {"regressor_hidden": (256,)}],
    "the report's": [{"preset": "paper"}],
}
SEVERAL_SEEDS = {"as it is": 3, "reconstructions": 3}
# What the default has there anyway.
NOTHING_NEW: dict[str, list[dict[str, Any]]] = {
    "bibtex": [{"linear_dim": 512}, {"hidden": ()}],
    "delicious": [{"linear_dim": 0}, {"hidden": (512,)}],
}

FIGURE_CORPORA = {"bibtex": None, "delicious": None, "eurlex57k": 5_000, "wordnet": 5_000}
FIGURE_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "NeuralXC": ("neuralxc", {}),
    "NeuralXC, the report's": ("neuralxc", {"preset": "paper"}),
    "one-vs-all": ("one-vs-all", {}),
    "knn": ("knn", {}),
    "random": ("random", {}),
}
MEASURED = {
    "NeuralXC": "neuralxc",
    "one-vs-all": "one-vs-all",
    "napkinXC, one-vs-all": "napkinxc-br",
    "PECOS XR-Linear": "pecos-xr-linear",
}
# Too slow, or of no use, at this size.
LEFT_OUT = {("NeuralXC, the report's", "eurlex57k"), ("NeuralXC, the report's", "wordnet")}


def measure(
    corpus: str, n_rows: int | None, method: str, parameters: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Train once and return what training and test rows give."""
    X, Y, X_test, Y_test = _rows(corpus, n_rows)
    with Stopwatch() as watch:
        model = models.make(method, **parameters, random_state=seed, n_threads=1).fit(X, Y)
    some = slice(0, MEASURED_ROWS)
    found: dict[str, Any] = {"cpu_s": round(watch.cpu_s, 2)}
    for part, rows, labels in (("train", X[some], Y[some]), ("test", X_test, Y_test)):
        figures = metrics.evaluate(labels, model.predict_topk(rows, 5), ks=KS)
        found[part] = {name: round(value, 2) for name, value in figures.items()}
    return found


def wanted() -> list[dict[str, Any]]:
    """Return all runs, those of the figures first."""
    figures = [
        {"set": "figures", "corpus": corpus, "n_rows": n_rows, "method": title, "seed": 0}
        for corpus, n_rows in FIGURE_CORPORA.items()
        for title in FIGURE_METHODS
        if (title, corpus) not in LEFT_OUT
    ]
    parts = [
        {"set": "parts", "corpus": corpus, "n_rows": n_rows, "parameters": parameters, "seed": seed}
        for corpus, n_rows in PART_CORPORA.items()
        for what, variants in PARTS.items()
        for parameters in variants
        if parameters not in NOTHING_NEW[corpus]
        for seed in range(SEVERAL_SEEDS.get(what, 1))
    ]
    return figures + parts


def run(which: str, corpora: list[str], budget_s: float) -> None:
    """Make the runs that are not there yet."""
    started = time.monotonic()
    there = {_key(line) for line in read_lines()}
    for line in wanted():
        if line["set"] != which or line["corpus"] not in corpora or _key(line) in there:
            continue
        if time.monotonic() - started > budget_s:
            print("The time for one command is over: run it again to go on.")
            return
        if which == "figures":
            method, parameters = FIGURE_METHODS[line["method"]]
        else:
            method, parameters = "neuralxc", {"n_learners": 1} | line["parameters"]
        found = measure(line["corpus"], line["n_rows"], method, parameters, line["seed"])
        LINES.parent.mkdir(parents=True, exist_ok=True)
        with open(LINES, "a", encoding="utf-8") as file:
            file.write(json.dumps(line | found) + "\n")
        print(line, found["test"]["P@1"], found["test"]["P@5"], found["cpu_s"], flush=True)


def read_lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


def render() -> None:
    """Write the tables and plots of the method's page."""
    lines = read_lines()
    put(PAGE, "measured", _measured_table())
    put(PAGE, "figures", "\n\n".join([_figure_table(lines), *_pictures(lines)]))
    put(PAGE, "parts", _part_table([line for line in lines if line["set"] == "parts"]))


def _measured_table() -> str:
    """Return the benchmark runs of the default, beside those of other systems."""
    head = "| corpus | system | P@1 | P@3 | P@5 | training, CPU s | peak MiB | splits |"
    rows = [head, "|---|---|--:|--:|--:|--:|--:|---|"]
    for corpus in BY_SIZE:
        path = ROOT / "benchmarks" / "results" / f"{corpus}.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        done = [line for line in lines if line.get("metrics") and not line["parameters"]]
        for title, method in MEASURED.items():
            latest = {line["split"]: line for line in done if line["method"] == method}
            drawn = [line for split, line in latest.items() if split.startswith("random")]
            some = drawn or list(latest.values())
            if not some or not any(line["method"] == "neuralxc" for line in done):
                continue
            figures = [
                float(np.mean([line["metrics"][f"P@{k}"] for line in some])) for k in (1, 3, 5)
            ]
            cells = [f"{value:.2f}" for value in figures]
            cells.append(f"{np.mean([line['train_cpu_s'] for line in some]):.0f}")
            cells.append(f"{max(line['train_peak_mib'] for line in some):,.0f}")
            cells.append(f"{len(drawn)} random" if drawn else "given")
            rows.append(f"| {corpus} | {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _figure_table(lines: list[dict[str, Any]]) -> str:
    rows = ["| corpus | method | rows | P@1 … P@5 | nDCG@1 … nDCG@5 |", "|---|---|---|---|---|"]
    for corpus, n_rows in FIGURE_CORPORA.items():
        for title in FIGURE_METHODS:
            for line in _of(lines, corpus, title):
                size = f", {n_rows:,} rows" if n_rows else ""
                for part in ("train", "test"):
                    cells = [
                        " ".join(f"{line[part][f'{name}@{k}']:.1f}" for k in KS)
                        for name in ("P", "nDCG")
                    ]
                    rows.append(
                        f"| {corpus}{size} | {title} | {part} | " + " | ".join(cells) + " |"
                    )
    return "\n".join(rows)


def _part_table(lines: list[dict[str, Any]]) -> str:
    names = [name for name in PART_CORPORA if any(line["corpus"] == name for line in lines)]
    heads = [f"{name}: P@1 / P@3 / P@5, train P@1, CPU s" for name in names]
    rows = ["| what | " + " | ".join(heads) + " |", "|---" * (len(names) + 1) + "|"]
    for what, variants in PARTS.items():
        for parameters in variants:
            given = ", ".join(f"{name}={value}" for name, value in parameters.items())
            cells = []
            for name in names:
                found = [
                    line
                    for line in lines
                    if line["corpus"] == name and _same(line["parameters"], parameters)
                ]
                cells.append(_cell(found) if found else "–")
            if any(cell != "–" for cell in cells):
                title = f"{what}: `{given}`" if given else what
                rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(found: list[dict[str, Any]]) -> str:
    def mean(part: str, name: str) -> str:
        values = [line[part][name] for line in found]
        spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
        return f"{np.mean(values):.2f}{spread}"

    precisions = " / ".join(mean("test", f"P@{k}") for k in (1, 3, 5))
    known = np.mean([line["train"]["P@1"] for line in found])
    cpu = np.mean([line["cpu_s"] for line in found])
    return f"{precisions}, {known:.1f}, {cpu:.1f}"


def _pictures(lines: list[dict[str, Any]]) -> list[str]:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "labelspace"
    from matplotlib import pyplot

    links = []
    for name, numbers in (("P", "3 and 4"), ("nDCG", "5 and 6")):
        corpora = [corpus for corpus in FIGURE_CORPORA if _any(lines, corpus)]
        if not corpora:
            continue
        figure, grid = pyplot.subplots(
            2, len(corpora), figsize=(3.1 * len(corpora), 5.6), layout="constrained", squeeze=False
        )
        for column, corpus in enumerate(corpora):
            for row, part in enumerate(("train", "test")):
                axes = grid[row][column]
                for color, title in enumerate(FIGURE_METHODS):
                    for line in _of(lines, corpus, title):
                        values = [line[part][f"{name}@{k}"] for k in KS]
                        axes.plot(KS, values, "o-", color=f"C{color}", ms=3, label=title)
                axes.set(title=f"{corpus}, {part}", xticks=KS, ylim=(0, 100))
                axes.grid(alpha=0.25)
        grid[0][0].legend(fontsize=7, frameon=False)
        grid[1][0].set(xlabel="k", ylabel=f"{name}@k")
        path = PICTURES / f"neuralxc-{name.lower()}.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
        links.append(f"![{name}@k on training and test rows](../assets/{path.name})")
        links.append(f"*{name}@k, as in the report's figures {numbers}.*")
    return links


def _any(lines: list[dict[str, Any]], corpus: str) -> bool:
    return any(_of(lines, corpus, title) for title in FIGURE_METHODS)


def _of(lines: list[dict[str, Any]], corpus: str, title: str) -> list[dict[str, Any]]:
    found = [line for line in lines if line["set"] == "figures" and line["corpus"] == corpus]
    return [line for line in found if line["method"] == title][:1]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _key(line: dict[str, Any]) -> str:
    named = {name: line.get(name) for name in ("set", "corpus", "method", "parameters", "seed")}
    return json.dumps(named, sort_keys=True)


def _rows(corpus: str, n_rows: int | None) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    folder = Path(prepare(corpus).folder)
    X, Y, X_test, Y_test = (
        csr_matrix(load_npz(folder / f"{part}_{which}.npz"), dtype=np.float32)
        for part in ("train", "test")
        for which in "XY"
    )
    kept = np.random.default_rng(0).permutation(X.shape[0])[:n_rows]
    asked = np.random.default_rng(1).permutation(X_test.shape[0])
    asked = asked[: 2 * MEASURED_ROWS] if n_rows else asked
    return X[kept], Y[kept], X_test[asked], Y_test[asked]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only write tables and plots")
    parser.add_argument("--set", default="parts", choices=("parts", "figures"))
    parser.add_argument("--corpora", default=",".join(FIGURE_CORPORA))
    parser.add_argument("--budget", type=float, default=55.0, help="minutes")
    chosen = parser.parse_args()
    if not chosen.render:
        run(chosen.set, chosen.corpora.split(","), 60.0 * chosen.budget)
    render()
