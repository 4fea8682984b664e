"""A Ray cluster of two nodes with a core each: the same bytes, whoever is killed and when."""

from __future__ import annotations

import filecmp
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelspace import bulk, engine
from labelspace.errors import EngineError
from tests.conftest import PROJECT, corpora_folder
from tests.engine.driver import PART, train_all
from tests.engine.ray_nodes import Cluster, cluster, kill_node

pytest.importorskip("ray", reason="needs Ray: pip install 'labelspace[cluster]'")
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="nodes are found in /proc"),
]
METHODS = ("labelspace", "one-vs-all", "annexml")
WITHIN = 300  # seconds
THINGS = ("red ball", "green cube", "red cube", "green ball")
# In a process of its own, since it makes parts of files small.
LEARN_ALONE = (
    "import sys; from pathlib import Path; from tests.engine.driver import learn_texts\n"
    "learn_texts(*map(Path, sys.argv[1:]))\n"
)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    # Paths of sockets have to be short.
    with (
        tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder,
        cluster(Path(folder)) as made,
    ):
        yield made


def driver(
    nodes: Cluster, workdir: Path, what: str, out: Path, *arguments: str
) -> subprocess.Popen[str]:
    how = {"name": "ray", "address": nodes.address, "workdir": str(workdir)}
    command = [sys.executable, "-m", "tests.engine.driver", json.dumps(how), what, str(out)]
    # Ray makes a group of its own for a driver; a new session is what can be killed as a whole.
    return subprocess.Popen(
        [*command, *arguments], env=nodes.env, cwd=PROJECT, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    try:
        told, _ = process.communicate(timeout=WITHIN)
    finally:
        process.kill()  # or the next test would wait for what this one asked for
    assert process.returncode == 0
    return json.loads(told.splitlines()[-1])


def wait_until(is_true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + WITHIN
    while not is_true():
        assert time.monotonic() < ends
        assert process.poll() is None, "it was over before it could be disturbed"
        time.sleep(0.02)


def differing(one: Path, other: Path, pattern: str = "*") -> list[str]:
    """Return the names of files that two folders do not have alike; bytes tell nobody anything."""
    names = {file.name for folder in (one, other) for file in folder.glob(pattern)}
    assert names
    return sorted(name for name in names if not _is_alike(one / name, other / name))


def _is_alike(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def test_models_are_the_same_bytes_on_a_cluster(nodes, tmp_path) -> None:
    cases = ["labelspace=planted"]
    folder = corpora_folder()
    if folder is not None:
        paths = [min((folder / name).glob("train*.txt*")) for name in ("bibtex", "wordnet")]
        cases += [f"{method}={path}" for method in METHODS for path in paths]
    apart = driver(nodes, tmp_path / "work", "train", tmp_path / "apart", *cases)
    train_all(tmp_path / "alone", cases)
    done = finished(apart)
    assert done["n_blocks_done"] > 2 * len(cases)
    assert done["n_workers"] > 1
    found = {
        case: differing(tmp_path / "apart" / str(number), tmp_path / "alone" / str(number))
        for number, case in enumerate(cases)
    }
    assert not {case: names for case, names in found.items() if names}


def test_texts_are_read_and_encoded_on_a_cluster(nodes, tmp_path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(3):
        rows = [(f"a {THINGS[i % 4]} {i} of {number}", THINGS[i % 4].split()) for i in range(200)]
        lines = [json.dumps({"text": text, "labels": labels}) for text, labels in rows]
        (folder / f"part-{number}.jsonl").write_text("\n".join(lines) + "\n")
    apart = driver(nodes, tmp_path / "work", "texts", tmp_path / "apart", str(folder))
    learned = subprocess.run(
        [sys.executable, "-c", LEARN_ALONE, str(tmp_path / "alone"), str(folder)],
        env=nodes.env, cwd=PROJECT, check=False,
    )  # fmt: skip
    assert learned.returncode == 0
    finished(apart)
    stages = {json.loads(line)["stage"] for line in (tmp_path / "work/blocks.jsonl").open()}
    assert {stage.partition(" ")[0] for stage in stages} >= {"Reading", "Encoding", "training"}
    assert differing(tmp_path / "apart", tmp_path / "alone") == []


def test_a_node_killed_in_training_costs_nothing_but_time(nodes, tmp_path) -> None:
    work = tmp_path / "work"
    nodes.wait_for_all()
    apart = driver(nodes, work, "train", tmp_path / "apart", "annexml=planted")
    train_all(tmp_path / "alone", ["annexml=planted"])
    wait_until(lambda: any(work.glob("train-learner-*.block")), apart)
    kill_node(nodes.nodes.pop())
    finished(apart)
    assert differing(tmp_path / "apart" / "0", tmp_path / "alone" / "0") == []
    nodes.add()


def test_a_killed_driver_goes_on_and_does_no_block_twice(nodes, tmp_path) -> None:
    work, out = tmp_path / "work", tmp_path / "models"
    first = driver(nodes, work, "train", out, "annexml=planted")
    wait_until(lambda: len(list(work.glob("train-learner-*.block"))) > 1, first)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert not (out / "0").exists()
    kept = {block.name: block.stat().st_mtime_ns for block in work.glob("*.block")}
    told = finished(driver(nodes, work, "train", out, "annexml=planted"))
    after = {block.name: block.stat().st_mtime_ns for block in work.glob("*.block")}
    assert kept.items() <= after.items()
    assert told["n_blocks_found"] >= 2
    assert told["n_blocks_done"] + told["n_blocks_found"] == len(list(work.glob("*-0*.block")))


def test_a_node_killed_in_tagging_loses_no_row(nodes, tmp_path, monkeypatch) -> None:
    from labelspace import Tagger

    texts = [f"{colour} {thing}" for colour in ("red", "green") for thing in ("ball", "cube")]
    Tagger("one-vs-all").fit(texts, [text.split() for text in texts]).save(tmp_path / "model")
    lines = [json.dumps({"text": f"a {texts[i % 4]} {i}", "n": i}) for i in range(4000)]
    source = tmp_path / "big.jsonl"
    source.write_text("\n".join(lines) + "\n")
    out = tmp_path / "apart"
    nodes.wait_for_all()
    apart = driver(nodes, tmp_path / "work", "tag", out, str(tmp_path / "model"), str(source))
    wait_until(lambda: len(list(out.glob("part-*"))) > 3, apart)
    kill_node(nodes.nodes.pop())
    with engine.using("threads", workdir=tmp_path / "own"):
        monkeypatch.setattr(bulk, "LEAST_PART", PART)
        bulk.tag_file(tmp_path / "model", source, tmp_path / "alone", k=3)
    finished(apart)
    parts = sorted(out.glob("part-*"))
    assert len(parts) > 20
    assert differing(out, tmp_path / "alone", "part-*") == []
    tagged = b"".join(part.read_bytes() for part in parts).splitlines()
    assert [json.loads(line)["n"] for line in tagged] == list(range(4000))
    nodes.add()


def test_a_node_killed_in_serving_shards_loses_no_label(nodes, tmp_path) -> None:
    made = (
        "import sys; from pathlib import Path; import ray\n"
        "from labelspace import Tagger\n"
        "from labelspace.models import OneVsAll\n"
        "from labelspace.sharding import write_shards\n"
        "from tests.planted import planted_corpus; from tests.small import small\n"
        "X, Y = planted_corpus(); whole = small(OneVsAll).fit(X, Y)\n"
        "write_shards(whole, Path(sys.argv[1]), 4, holders='ray')\n"
        "ray.init(sys.argv[2], logging_level='error')\n"
        "sharded = Tagger.load(sys.argv[1])\n"
        "for word in ('before', 'after'):\n"
        "    same = (sharded.predict_topk(X, 5).labels == whole.predict_topk(X, 5).labels).all()\n"
        "    print(word, same, sharded.estimator_.missing_shards_, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    nodes.wait_for_all()
    command = [sys.executable, "-c", made, str(tmp_path / "model"), nodes.address]
    with subprocess.Popen(
        command, env=nodes.env, cwd=PROJECT, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as asking:  # fmt: skip
        assert asking.stdin is not None
        assert asking.stdout is not None
        assert next(line for line in asking.stdout if "before" in line) == "before True []\n"
        kill_node(nodes.nodes.pop())
        nodes.add()
        asking.stdin.write("on\n")
        asking.stdin.flush()
        assert next(line for line in asking.stdout if "after" in line) == "after True []\n"
        asking.communicate("on\n", timeout=WITHIN)


def test_a_cluster_that_is_not_there_is_told_in_a_sentence(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")

    def refuse(**options: Any) -> None:
        raise ConnectionError("Failed to connect to Ray cluster at 127.0.0.1:1")

    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(EngineError, match=r"cluster at 127\.0\.0\.1:1 cannot be reached"):
        engine.using("ray", address="127.0.0.1:1", workdir=tmp_path).__enter__()


def test_other_versions_of_the_cluster_are_told_in_a_sentence(monkeypatch, tmp_path) -> None:
    def refuse(**options: Any) -> None:
        raise RuntimeError("Version mismatch: The cluster was started with:\n  Ray: 2.9.0")

    monkeypatch.setattr("ray.init", refuse)
    with pytest.raises(EngineError, match="are not those of the cluster at auto: install the same"):
        engine.using("ray", address="auto", workdir=tmp_path).__enter__()
