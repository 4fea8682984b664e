"""Presets of the systems that compress labels: the values of the published program, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models import CPLST, MLCSSP, PLST, CompressedSensing
from labelspace.parameters import CorpusShape

BIBTEX = CorpusShape(4880, 1836, 159)
KINDS = (CPLST, PLST, CompressedSensing, MLCSSP)


@pytest.mark.parametrize("kind", KINDS)
def test_paper_has_the_values_of_the_program(kind: type) -> None:
    # Chen and Lin (2012), their program: lambda = 0.1 in all four, and rows as they are.
    X = csr_matrix([[3.0, 4.0], [0.0, 5.0], [6.0, 0.0], [1.0, 1.0]])
    Y = csr_matrix(np.eye(4))
    model = kind(preset="paper", random_state=0).fit(X, Y)
    assert model._penalty == 0.1
    assert model.rows_.encode(X).toarray().tolist() == X.toarray().tolist()
    # Lengths of codes are recalled: two fifths of the labels, half of them for CS (section 4).
    assert model._usual_dim(BIBTEX) == {CompressedSensing: 79}.get(kind, 63)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_scaled_by_default_and_by_a_switch(kind: type) -> None:
    X, Y = csr_matrix([[3.0, 4.0], [0.0, 5.0]]), csr_matrix(np.eye(2))
    assert kind(random_state=0).fit(X, Y).rows_.norm
    assert kind(preset="paper", normalize=True, random_state=0).fit(X, Y).rows_.norm
    assert not kind(normalize=False, random_state=0).fit(X, Y).rows_.norm
