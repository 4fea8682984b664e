"""PD-Sparse, PPD-Sparse and ProXML learn, and stay small."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labelspace.models import OneVsAll, PDSparse, make
from labelspace.models.sparse_margins.settings import PPDSparseSettings, ProXMLSettings
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus

BIBTEX = CorpusShape(4880, 1836, 159)


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


def test_paper_has_the_values_of_the_program_of_pd_sparse() -> None:
    # Yen and others (2016), a061105/ExtremeMulticlass.
    X, Y = planted_corpus(60)
    printed = PDSparse(preset="paper").fit(X, Y).settings_
    assert vars(printed) == {
        "loss": "worst",  # the problem as recalled
        # The source, and README's examples of training: -c 1.0 -l 0.1
        "C": 1.0,
        "shrink": 0.1,
        # README: 20 searches, the default of -m. Passes without λ go on until weights settle
        # there; that 20 are enough, and that one label joins at a time, is ours
        "max_searches": 20,
        "n_post_passes": 20,
        "n_joining": 1,
        # The solver's source: the α of a row are settled once
        "max_passes": 1,
        "slack": 0.0,
        # Every label may have a weight for every feature, and for one that all rows have
        "own_features": False,
        "constant": 1.0,
        # Ours: when to stop before that, and that rows have length one; the page says why
        "tol": 0.001,
        "normalize": True,
    }
    repaired = PDSparse(preset="repaired").fit(X, Y).settings_
    assert repaired == replace(printed, loss="threshold", n_joining=5)


def test_paper_has_the_values_of_the_program_of_ppd_sparse() -> None:
    # Yen and others (2017), a061105/AsyncPDSparse.
    assert vars(PPDSparseSettings.for_corpus("paper", BIBTEX)) == {
        "loss": "squared_hinge",  # the text, as recalled, has the hinge; the program squares it
        "C": 1.0,
        "shrink": 0.1,
        "max_rounds": 15,
        "max_passes": 1,
        # Ours
        "tol": 0.1,
        "normalize": True,
    }


def test_paper_has_the_values_of_the_program_of_proxml() -> None:
    # Babbar and Schölkopf (2019), their program and no section of the text: xmc-aalto/proxml has
    # C = 1, and its TfIdfCalculator scales rows to length one.
    assert vars(ProXMLSettings.for_corpus("paper", BIBTEX)) == {
        "C": 1.0,
        "rarity": 0.0,  # rows of all labels count alike
        # Ours: the problem is convex, and these ask for its answer
        "tol": 0.01,
        "max_rounds": 50,
        "max_passes": 100,
        "normalize": True,
    }
