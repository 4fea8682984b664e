"""Labels that go together: counted as a product of matrices counts them, and heard by the stack."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from labelspace.models import LabelSpace
from labelspace.models.labelspace._partner_kernels import keep_company
from labelspace.models.labelspace.label_partners import label_partners, updated_partners
from tests.planted import planted_corpus


@pytest.fixture
def Y() -> csr_matrix:
    made = random_array((300, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    made.data[:] = 1.0
    return csr_matrix(made)


def test_all_partners_are_those_of_the_product(Y: csr_matrix) -> None:
    together = (Y.T @ Y).toarray()
    np.fill_diagonal(together, 0.0)
    expected = np.where(together >= 2, together, 0.0) / (Y.sum(axis=0).reshape(-1, 1) + 1.0)
    np.testing.assert_allclose(label_partners(Y, 12).toarray(), expected, rtol=1e-6)


def test_the_rarer_of_labels_as_often_together_comes_first() -> None:
    Y = np.zeros((40, 3))
    Y[:5] = 1.0  # all three go together five times
    Y[5:30, 2] = 1.0  # and the last is frequent besides
    assert label_partners(csr_matrix(Y), 1)[0].indices.tolist() == [1]


def test_updated_partners_are_those_counted_anew(Y: csr_matrix) -> None:
    wider = csr_matrix((Y.data, Y.indices, Y.indptr), shape=(300, 14))
    more = np.zeros((3, 14))
    more[:, [2, 13]] = 1.0
    grown = csr_matrix(np.vstack([wider.toarray(), more]))
    updated = updated_partners(label_partners(Y, 4), grown, 4, np.array([2, 12, 13]))
    anew = label_partners(grown, 4)
    assert (updated[[2, 12, 13]] != anew[[2, 12, 13]]).nnz == 0
    assert (updated[[0, 1]][:, :12] != label_partners(Y, 4)[[0, 1]]).nnz == 0


def test_company_is_what_the_formula_says(Y: csr_matrix) -> None:
    partners = label_partners(Y, 12)
    labels, p = np.array([4, 9, 1, 12]), np.array([0.9, 0.5, 0.2, 0.1], dtype=np.float32)
    told = np.full((4, 3), 7.0, dtype=np.float32)
    place_of = np.full(12, -1, dtype=np.int32)
    lists = partners.indptr, partners.indices, partners.data
    keep_company(np.arange(4), 4, labels, p, *lists, place_of, told)
    shares = partners.toarray()[np.ix_(labels[:3], labels[:3])]
    brought = p[:3, np.newaxis] * shares
    np.testing.assert_allclose(told[:3, 0], brought.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(told[:3, 1], brought.max(axis=0), rtol=1e-5)
    np.testing.assert_allclose(told[:3, 2], (shares * p[:3]).sum(axis=1), rtol=1e-5)
    assert told[3].tolist() == [0.0, 0.0, 0.0]  # a stand-in for a label without rows has none
    assert (place_of == -1).all()


def test_a_model_learns_who_goes_with_whom_on() -> None:
    X, Y = planted_corpus(200, 6)
    model = LabelSpace(random_state=0).fit(X, Y)
    before = model.partners_.shape
    model.partial_fit(X[:20], Y[:20])
    assert model.partners_.shape == before
    assert (model.partners_ != label_partners(model.Y_, 32)).nnz == 0
