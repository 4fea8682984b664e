"""Trials: what learns from few rows is what would learn from all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.errors import DataError, UsageError
from labelspace.models.labelspace.model import LabelSpace
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.parameters import CorpusShape
from labelspace.tuning.space import Configuration
from labelspace.tuning.trials import Trials
from tests.planted import planted_corpus

X, Y = planted_corpus(200)


def trials(rows: object = X, labels: csr_matrix = Y, **options: object) -> Trials:
    return Trials(rows, labels, **{"metric": "P@3", "n_threads": 1, **options})  # type: ignore[arg-type]


def test_a_fifth_of_the_rows_with_labels_is_held_out() -> None:
    labels = Y.toarray()
    labels[:50] = 0
    one = trials(labels=csr_matrix(labels))
    assert one.held_out.size == 30
    assert one.held_out.min() >= 50
    assert np.union1d(one.held_out, one.learned).tolist() == list(range(200))
    assert np.intersect1d(one.held_out, one.learned).size == 0


def test_figures_are_those_of_the_rows_held_out() -> None:
    one = trials()
    trained = one.run(Configuration("knn"), 100)
    expected = metrics.evaluate(Y[one.held_out], trained.answer)
    assert trained.figures == {name: expected[name] for name in ("P@3", "P@1", "P@5")}
    assert trained.seconds > 0


def test_few_rows_learn_with_the_settings_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fit(self: LabelSpace, X: csr_matrix, Y: csr_matrix, **more: object) -> None:
        seen.append((X.shape[0], self._resolved(X, Y)))
        raise DataError("enough")

    def by_rows(cls: type[LabelSpaceSettings], preset: str, shape: CorpusShape) -> object:
        return cls(min_steps=shape.n_examples)

    monkeypatch.setattr(LabelSpaceSettings, "for_corpus", classmethod(by_rows))
    monkeypatch.setattr(LabelSpace, "_fit", fit)
    one = trials()
    for n_rows in (160, 40):
        with pytest.raises(DataError, match="enough"):
            one.run(Configuration("labelspace", {"dim": 8}), n_rows)
    (n_all, for_all), (n_few, for_few) = seen
    assert (n_all, n_few) == (160, 40)
    assert for_few.dim == 8
    assert for_few.min_steps == for_all.min_steps == 160


def test_the_fingerprint_tells_corpora_apart() -> None:
    texts = [f"text {n}" for n in range(200)]
    found = {
        trials().fingerprint(),
        trials(X * 2).fingerprint(),
        trials(labels=csr_matrix(Y[:, ::-1])).fingerprint(),
        trials(held_out=np.arange(10)).fingerprint(),
        trials(texts).fingerprint(),
        trials([*texts[:-1], "another"]).fingerprint(),
    }
    assert len(found) == 6
    assert trials().fingerprint() == trials(X.toarray()).fingerprint()
    assert trials(iter(texts)).fingerprint() == trials(texts).fingerprint()


def test_a_single_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"write \[text\]"):
        trials("a text")
