"""Presets of the systems that compress labels: what published comparisons have, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models import CPLST, MLCSSP, PLST, CompressedSensing
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus

BIBTEX = CorpusShape(4880, 1836, 159)
KINDS = (CPLST, PLST, CompressedSensing, MLCSSP)


@pytest.mark.parametrize("kind", KINDS)
def test_paper_has_the_values_of_published_comparisons(kind: type) -> None:
    # Chen and Lin (2012), their program: rows as they are. λ is chosen on rows held out where
    # figures on bibtex and delicious come from (Bhatia et al., 2015, section 3); 10 is our choice.
    X = csr_matrix([[3.0, 4.0], [0.0, 5.0], [6.0, 0.0], [1.0, 1.0]])
    Y = csr_matrix(np.eye(4))
    model = kind(preset="paper", random_state=0).fit(X, Y)
    assert model._penalty == 10.0
    assert model.rows_.encode(X).toarray().tolist() == X.toarray().tolist()
    # Lengths of codes are recalled from the same section: four fifths of the labels.
    assert model._usual_dim(BIBTEX) == 127


@pytest.mark.parametrize("kind", [PLST, CPLST])
def test_paper_regresses_with_a_constant(kind: type) -> None:
    # Their program puts a one before each row, whose weight is penalised as the others are.
    X, Y = planted_corpus()
    rows, labels = X.toarray().astype(np.float64), Y.toarray()
    rows, mean = np.column_stack((rows, np.ones(len(rows)))), labels.mean(axis=0)
    W = np.linalg.solve(rows.T @ rows + 10.0 * np.eye(rows.shape[1]), rows.T @ (labels - mean))
    model = kind(preset="paper", dim=12, random_state=0).fit(X, Y)
    top = model.predict_topk(X, k=12)
    expected = np.take_along_axis(rows @ W + mean, top.labels, axis=1)
    assert np.allclose(top.scores, expected, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_scaled_by_default_and_by_a_switch(kind: type) -> None:
    X, Y = csr_matrix([[3.0, 4.0], [0.0, 5.0]]), csr_matrix(np.eye(2))
    assert kind(random_state=0).fit(X, Y).rows_.norm
    assert kind(preset="paper", normalize=True, random_state=0).fit(X, Y).rows_.norm
    assert not kind(normalize=False, random_state=0).fit(X, Y).rows_.norm
