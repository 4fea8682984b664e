"""A sharded model answers as the whole one does, and survives the loss of who holds a shard."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import signal
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from labelspace import Tagger, store
from labelspace.errors import EngineError, LabelspaceWarning, ModelFileError, UsageError
from labelspace.models import AnnexML, MostCommon, OneVsAll
from labelspace.search.sparse import SparseIndex
from labelspace.sharding import write_shards
from labelspace.sharding.processes import ShardProcess
from tests.planted import planted_corpus
from tests.small import fitted


@pytest.fixture(scope="module")
def whole() -> OneVsAll:
    return fitted(OneVsAll)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_shards_together_answer_as_the_whole_does(n_shards, whole, tmp_path) -> None:
    X, _ = planted_corpus()
    starts = write_shards(whole, tmp_path / "model", n_shards, holders="inside")
    assert len(starts) == n_shards + 1
    sharded = Tagger.load(tmp_path / "model")
    top, expected = sharded.predict_topk(X, 7), whole.predict_topk(X, 7)
    np.testing.assert_array_equal(top.labels, expected.labels)
    np.testing.assert_array_equal(top.scores, expected.scores)
    np.testing.assert_array_equal(sharded.estimator_.classes_, whole.classes_)


def test_more_labels_than_a_shard_has_can_be_asked_for(whole, tmp_path) -> None:
    X, _ = planted_corpus()
    write_shards(whole, tmp_path / "model", whole.n_labels_, holders="inside")
    top = Tagger.load(tmp_path / "model").predict_topk(X[:5], whole.n_labels_)
    expected = whole.predict_topk(X[:5], whole.n_labels_)
    np.testing.assert_array_equal(top.labels, expected.labels)


def test_a_process_that_is_killed_starts_again_and_answers(whole, tmp_path) -> None:
    X, _ = planted_corpus()
    write_shards(whole, tmp_path / "model", 2)
    sharded = Tagger.load(tmp_path / "model").estimator_
    try:
        expected = whole.predict_topk(X, 5)
        np.testing.assert_array_equal(sharded.predict_topk(X, 5).labels, expected.labels)
        os.kill(sharded._shards[1].process, signal.SIGKILL)
        np.testing.assert_array_equal(sharded.predict_topk(X, 5).labels, expected.labels)
        assert sharded.missing_shards_ == []
    finally:
        sharded.close()


def _ask(sharded):
    return sharded.predict_topk(planted_corpus()[0], 5).labels


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_process_asks_processes_of_its_own(whole, tmp_path) -> None:
    write_shards(whole, tmp_path / "model", 1)
    sharded = Tagger.load(tmp_path / "model").estimator_
    try:
        expected = _ask(sharded)
        holder = sharded._shards[0].process
        forked = multiprocessing.get_context("fork")
        answers = forked.Queue()
        started = forked.Process(target=_tell, args=(sharded, answers))
        started.start()
        labels, other = answers.get(timeout=60)
        started.join(60)
        np.testing.assert_array_equal(labels, expected)
        assert other != holder
        assert sharded._shards[0].process == holder
        np.testing.assert_array_equal(_ask(sharded), expected)
    finally:
        sharded.close()


def _tell(sharded, answers) -> None:
    """Ask in a forked process, and say what came and who was asked."""
    answers.put((_ask(sharded), sharded._shards[0].process))
    sharded.close()


def test_a_pickled_model_starts_processes_of_its_own(whole, tmp_path) -> None:
    write_shards(whole, tmp_path / "model", 1)
    sharded = Tagger.load(tmp_path / "model").estimator_
    again = pickle.loads(pickle.dumps(sharded))
    try:
        assert again._shards[0].process != sharded._shards[0].process
    finally:
        sharded.close()
        again.close()


@pytest.fixture
def _lost(monkeypatch) -> None:
    """Let the second shard be lost for good."""
    import labelspace.sharding.ranker as ranker

    class Lost:
        def search(self, Z, k):
            raise ranker.ShardLost("gone")

        def close(self) -> None: ...

    opened = ranker.opened
    monkeypatch.setattr(ranker, "opened", lambda how, shards: [*opened(how, shards[:1]), Lost()])


@pytest.mark.usefixtures("_lost")
def test_a_lost_shard_is_an_error_or_a_flagged_partial_answer(whole, tmp_path) -> None:
    X, _ = planted_corpus()
    starts = write_shards(whole, tmp_path / "strict", 2, holders="inside")
    with pytest.raises(EngineError, match=r"1 of 2 shards \(1\) did not answer"):
        Tagger.load(tmp_path / "strict").predict_topk(X)
    write_shards(whole, tmp_path / "lenient", 2, holders="inside", missing="partial")
    sharded = Tagger.load(tmp_path / "lenient").estimator_
    with pytest.warns(LabelspaceWarning, match="their labels are left out"):
        top = sharded.predict_topk(X, 3)
    assert sharded.missing_shards_ == [1]
    assert top.labels.max() < starts[1]


def test_a_process_that_cannot_start_is_lost(tmp_path, monkeypatch) -> None:
    from labelspace.sharding.ranker import ShardLost

    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    held = ShardProcess(tmp_path / "nothing", 1, 1)
    with pytest.raises(ShardLost):
        held.search(planted_corpus()[0], 1)
    held.close()


def _another_width(folder) -> None:
    store.save(SparseIndex(csr_matrix(np.ones((3, 2)))), folder / "shard-0001")


def _another_class(folder) -> None:
    store.save(fitted(MostCommon), folder / "shard-0001")


def _more_labels(folder) -> None:
    shard = store.load(folder / "shard-0001")
    store.save(SparseIndex(vstack([shard.keys] * 2, format="csr")), folder / "shard-0001")


def _gone(folder) -> None:
    shutil.rmtree(folder / "shard-0001")


def _elsewhere(folder) -> None:
    (folder / "shard-0001").rename(folder.parent / "other")
    (folder / "shard-0001").symlink_to(folder.parent / "other")


CHANGES = [_another_width, _another_class, _more_labels, _gone, _elsewhere]


@pytest.mark.parametrize(
    ("change", "holders"), [*((one, "inside") for one in CHANGES), (_another_width, "processes")]
)
def test_a_strangers_shard_is_refused_with_a_sentence(change, holders, whole, tmp_path) -> None:
    write_shards(whole, tmp_path / "model", 2, holders=holders)
    change(tmp_path / "model")
    with pytest.raises(ModelFileError, match="shard"):
        Tagger.load(tmp_path / "model").predict_topk(planted_corpus()[0])


def test_a_folder_cannot_ask_for_thousands_of_processes(whole, tmp_path) -> None:
    write_shards(whole, tmp_path / "model", 2)
    front = store.load(tmp_path / "model")
    n_labels = front.n_labels_
    front.starts_ = np.concatenate((np.zeros(100_000, dtype=np.int64), [n_labels]))
    store.save(front, tmp_path / "many")
    with pytest.raises(ModelFileError, match="1 to 1024 shards"):
        Tagger.load(tmp_path / "many")


def test_a_tagger_of_texts_can_be_sharded(tmp_path) -> None:
    texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    tagger = Tagger("one-vs-all").fit(texts, [text.split()[1:] for text in texts])
    write_shards(tagger, tmp_path / "model", 2, holders="inside")
    assert Tagger.load(tmp_path / "model").tag("a red ball", k=2) == tagger.tag("a red ball", k=2)


def test_what_cannot_be_sharded_is_refused(whole, tmp_path) -> None:
    with pytest.raises(UsageError, match="annexml has no classifier for each label"):
        write_shards(fitted(AnnexML), tmp_path / "model", 2)
    with pytest.raises(UsageError, match="are not possible"):
        write_shards(whole, tmp_path / "model", whole.n_labels_ + 1)
    write_shards(whole, tmp_path / "model", 2, holders="inside")
    front = store.load(tmp_path / "model")
    with pytest.raises(UsageError, match=r"load it by Tagger\.load"):
        front.predict_topk(planted_corpus()[0])
    with pytest.raises(UsageError, match="made of a trained one"):
        front.fit(*planted_corpus())
