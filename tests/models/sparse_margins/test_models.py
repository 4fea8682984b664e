"""PD-Sparse, PPD-Sparse and ProXML learn, and stay small."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labelspace.models import OneVsAll, PDSparse, PPDSparse, ProXML, make
from labelspace.models.sparse_margins.settings import PDSparseSettings
from tests.planted import planted_corpus


@pytest.mark.parametrize("name", ["pdsparse", "ppdsparse", "proxml"])
def test_it_finds_each_planted_label_with_a_fraction_of_the_weights(name: str) -> None:
    X, Y = planted_corpus(400, n_labels=30)
    X_test, Y_test = planted_corpus(200, n_labels=30, seed=1)
    model = make(name, random_state=0).fit(X, Y)
    plain = OneVsAll(C=1.0, min_weight=0.0, random_state=0).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.97
    assert model.coef_.nnz < plain.coef_.nnz / 3
    reason = model.explain(X_test[:1], k=1)[0][0].reasons[0]
    assert reason.weight > 0


def test_presets_differ() -> None:
    X, Y = planted_corpus(60)
    printed = PDSparse(preset="paper").fit(X, Y).settings_
    assert printed == PDSparseSettings(
        loss="worst",
        C=1.0,
        shrink=0.1,
        constant=1.0,
        own_features=False,
        tol=0.001,
        max_searches=20,
        max_passes=1,
        n_joining=1,
        slack=0.0,
        n_post_passes=20,
        normalize=True,
    )
    repaired = PDSparse(preset="repaired").fit(X, Y).settings_
    assert repaired == replace(printed, loss="threshold", n_joining=5)
    assert PPDSparse(preset="paper").fit(X, Y).settings_.max_passes == 1
    assert ProXML(preset="paper").fit(X, Y).settings_.rarity == 0
