"""Metrics: answers worked by hand, and properties that any ranking must have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.errors import DataError
from labelspace.topk import TopK

DOCS = Path(__file__).resolve().parents[1] / "docs"
LOG2_3 = np.log2(3)


def test_precision_by_hand() -> None:
    # Row 0 hits at ranks 1 and 3 of {0, 2}; row 1 at rank 2 of {1}; row 2 has no labels.
    Y = csr_matrix([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    ranking = np.array([[0, 3, 2], [2, 1, 0], [0, 1, 2]])
    figures = metrics.evaluate(Y, ranking, ks=(1, 2, 3))
    assert figures["P@1"] == pytest.approx(100 * 1 / 3)
    assert figures["P@2"] == pytest.approx(100 * (1 + 1) / 6)
    assert figures["P@3"] == pytest.approx(100 * (2 + 1) / 9)


def test_ndcg_by_hand() -> None:
    Y = csr_matrix([[1, 0, 1, 0], [0, 1, 0, 0]])
    ranking = np.array([[0, 3, 2], [2, 1, 0]])
    figures = metrics.evaluate(Y, ranking, ks=(1, 3))
    row_0 = (1 + 1 / 2) / (1 + 1 / LOG2_3)
    row_1 = (1 / LOG2_3) / 1
    assert figures["nDCG@1"] == pytest.approx(50.0)
    assert figures["nDCG@3"] == pytest.approx(100 * (row_0 + row_1) / 2)


def test_propensity_by_hand() -> None:
    # A = 1, B = 0 and N = e^3 rows give C = 2 and 1/p = 1 + 2/n.
    n_examples = np.exp(3)
    weights = metrics.inverse_propensity([1, 2, 4], n_examples, A=1.0, B=0.0)
    assert weights == pytest.approx([3.0, 2.0, 1.5])


def test_labels_never_seen_in_train_weigh_most() -> None:
    weights = metrics.inverse_propensity([5], 100, n_labels=2)
    assert weights[1] == metrics.inverse_propensity([0], 100)[0] > weights[0]


def test_psp_is_a_ratio_of_sums_by_hand() -> None:
    # Weights 3, 2, 1.5. Row 0: true {0, 1}, ranked 1 first. Row 1: true {2}, ranked 2 first.
    Y = csr_matrix([[1, 1, 0], [0, 0, 1]])
    figures = metrics.evaluate(
        Y,
        np.array([[1, 2], [2, 0]]),
        ks=(1, 2),
        label_counts=[1, 2, 4],
        n_examples=np.exp(3),  # type: ignore[arg-type]
        A=1.0,
        B=0.0,
    )
    assert figures["PSP@1"] == pytest.approx(100 * (2 + 1.5) / (3 + 1.5))
    assert figures["PSP@2"] == pytest.approx(100 * (2 + 1.5) / (5 + 1.5))
    ideal_0 = 1 + 1 / LOG2_3
    got = 2 / ideal_0 + 1.5
    best = (3 + 2 / LOG2_3) / ideal_0 + 1.5
    assert figures["PSnDCG@2"] == pytest.approx(100 * got / best)


def test_psp_of_the_glas_paper_takes_its_weights_from_test_rows() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert "PSP@k = Σ_i Σ_{j≤k} w_{r_j} [r_j ∈ y]  /  Σ_i best_i" in page
    assert "w_l = 1 + C · (m_l + B)^−A        C = (ln M − 1) · (B + 1)^A" in page
    # Of M = 3 test rows two have label 0, and one each of the others; A, B = 0.55, 1.5.
    Y = csr_matrix([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    figures = metrics.psp_glas(Y, np.array([[0, 2], [1, 0], [2, 1]]), ks=(1, 2))
    C = (np.log(3) - 1) * 2.5**0.55
    often, once = 1 + C * 3.5**-0.55, 1 + C * 2.5**-0.55
    # Found first are label 0 of the first row and label 2 of the last. The best would be a label
    # that is there once, then 0, then 2; second comes label 0 of the row in the middle.
    got, best = often + once, once + often + once
    assert figures["PSP@1"] == pytest.approx(100 * got / best)
    got, best = got + often, best + often
    assert figures["PSP@2"] == pytest.approx(100 * got / best)


def test_a_label_ranked_twice_counts_once() -> None:
    figures = metrics.evaluate(csr_matrix([[1, 0]]), np.array([[0, 0, 0]]), ks=(3,))
    assert figures["P@3"] == pytest.approx(100 / 3)


def test_places_without_a_label_are_misses() -> None:
    figures = metrics.evaluate(csr_matrix([[1, 0]]), np.array([[-1, 0]]), ks=(1, 3))
    assert figures["P@1"] == 0.0
    assert figures["P@3"] == pytest.approx(100 / 3)


def test_scores_as_csr_rank_like_their_top_k() -> None:
    Y = csr_matrix([[0, 1, 1]])
    scores = csr_matrix([[0.5, 0.5, 0.1]])
    assert metrics.evaluate(Y, scores, ks=(1,))["P@1"] == 0.0  # the tie goes to label 0


def test_recall_by_hand() -> None:
    Y = csr_matrix([[1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    figures = metrics.recall(Y, np.array([[0, 3], [0, 3], [0, 1]]), ks=(1, 2))
    assert figures["R@2"] == pytest.approx(100 * (1 / 3 + 1) / 3)
    assert figures["RP@2"] == pytest.approx(100 * (1 / 2 + 1) / 3)


def test_coverage_by_hand() -> None:
    Y = csr_matrix([[1, 0, 0], [1, 1, 0]])
    assert metrics.coverage(Y, np.array([[0], [0]]), ks=(1,)) == {"coverage@1": 50.0}


def test_f1_against_scikit_learn() -> None:
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    Y, Y_hat = (rng.random((2, 40, 6)) < 0.3).astype(int)
    Y[:, 5] = Y_hat[:, 5] = 0  # occurs in neither: left out of the macro average
    figures = metrics.f1(csr_matrix(Y), csr_matrix(Y_hat))
    assert figures["micro-F1"] == pytest.approx(100 * f1_score(Y, Y_hat, average="micro"))
    macro = f1_score(Y[:, :5], Y_hat[:, :5], average="macro")
    assert figures["macro-F1"] == pytest.approx(100 * macro)


def test_bands_of_frequency_add_up() -> None:
    Y = csr_matrix([[1, 1, 0, 1], [0, 1, 1, 0]])
    bands = metrics.by_frequency(Y, np.array([[1, 0], [1, 3]]), [1, 50, 0, 7], k=2)
    assert [band["frequency"] for band in bands][:3] == ["0", "1", "2–5"]
    assert sum(band["labels"] for band in bands) == 4
    assert sum(band["occurrences"] for band in bands) == 5
    by_name = {band["frequency"]: band for band in bands}
    assert by_name["21–100"]["recall@2"] == 100.0
    assert by_name["0"]["recall@2"] == 0.0
    assert by_name["0"]["occurrences"] == 1


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(DataError, match="one line of label ids for each row"):
        metrics.evaluate(csr_matrix((2, 3)), np.array([[0]]))
    with pytest.raises(DataError, match="same rows"):
        metrics.f1(csr_matrix((2, 3)), csr_matrix((2, 4)))


def test_mean_and_deviation() -> None:
    figures = metrics.mean_and_deviation([{"P@1": 60.0}, {"P@1": 62.0}])
    assert figures["P@1"] == pytest.approx((61.0, np.sqrt(2)))


N_LABELS = 8
label_sets = st.lists(
    st.sets(st.integers(0, N_LABELS - 1), min_size=1, max_size=N_LABELS), min_size=1, max_size=6
)


def matrix(rows: list[set[int]]) -> csr_matrix:
    Y = np.zeros((len(rows), N_LABELS))
    for at, row in enumerate(rows):
        Y[at, list(row)] = 1
    return csr_matrix(Y)


@given(label_sets)
@settings(deadline=None)
def test_perfect_ranking_scores_100(rows: list[set[int]]) -> None:
    Y = matrix(rows)
    counts = np.arange(1, N_LABELS + 1)
    # Rarest true labels first is the best that PSP can ask for.
    ranking = np.array([[*sorted(row), *sorted(set(range(N_LABELS)) - row)] for row in rows])
    figures = metrics.evaluate(Y, ranking, label_counts=counts, n_examples=1000)
    for k in metrics.KS:
        assert figures[f"nDCG@{k}"] == pytest.approx(100.0)
        assert figures[f"PSP@{k}"] == pytest.approx(100.0)
        assert figures[f"PSnDCG@{k}"] == pytest.approx(100.0)
        if min(map(len, rows)) >= k:
            assert figures[f"P@{k}"] == pytest.approx(100.0)


@given(label_sets, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_no_ranking_beats_100_and_order_within_k_matters_only_for_ndcg(
    rows: list[set[int]], random: object
) -> None:
    Y = matrix(rows)
    rng = np.random.default_rng(random.randrange(10**6))  # type: ignore[attr-defined]
    ranking = np.array([rng.permutation(N_LABELS) for _ in rows])
    turned = ranking.copy()
    turned[:, :5] = ranking[:, :5][:, ::-1]
    counts = np.arange(1, N_LABELS + 1)
    one = metrics.evaluate(Y, ranking, label_counts=counts, n_examples=1000)
    other = metrics.evaluate(Y, turned, label_counts=counts, n_examples=1000)
    assert all(0.0 <= value <= 100.0 + 1e-9 for value in one.values())
    assert one["P@5"] == pytest.approx(other["P@5"])
    assert one["PSP@5"] == pytest.approx(other["PSP@5"])


def test_same_figures_from_top_k_and_ids() -> None:
    Y = csr_matrix([[1, 0, 1]])
    ids = np.array([[0, 2, 1]])
    top = TopK(ids, np.array([[3.0, 2.0, 1.0]], dtype=np.float32))
    assert metrics.evaluate(Y, top, ks=(1, 3)) == metrics.evaluate(Y, ids, ks=(1, 3))
