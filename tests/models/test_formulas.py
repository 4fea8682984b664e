"""Every formula on a method's page, quoted and worked out by hand on a small case.

A test names the page's lines that it checks. The last test looks for lines that nobody checks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import expit

from labelspace.graph.spectral import BACKGROUND, laplacian_eigenmaps
from labelspace.graph.tree import Tree, flat_tree
from labelspace.linear.contrastive import alike
from labelspace.linear.contrastive_loss import contrast
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.manifold.self_expression import express
from labelspace.models import SLEEC, XMLCNN, GLaS, MostCommon, NearestNeighbors, OneVsAll
from labelspace.models.annexml import _pair_kernels as pairs
from labelspace.models.hierarchical_xc.best_first import BestFirstIndex
from labelspace.models.hyperbolic.encoder import SpaceEncoder
from labelspace.models.hyperbolic.loss import approach_labels
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.models.hyperbolic.training import LabelPoints, RowStep
from labelspace.models.label_trees import _node_embedding_kernels as nodes
from labelspace.models.label_trees.affinity import N_ANSWERS, confusion_affinity
from labelspace.models.label_trees.one_slack import train_one_slack
from labelspace.models.labelspace._stacking_kernels import SMALLEST_SHARE
from labelspace.models.labelspace.boosting import BoostedTrees
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import Stacker
from labelspace.models.leml.newton import LOSSES, LowRankProblem
from labelspace.models.leml.sparse_part import solve_sparse
from labelspace.models.leml.squared_loss import Factors, alternate
from labelspace.models.sleec.settings import SLEECSettings
from labelspace.models.sparse_margins.active_labels import train_together
from labelspace.models.sparse_margins.working_set import train_sparse
from labelspace.models.xml_cnn.convolutions import WordConvolutions
from labelspace.models.xml_cnn.settings import XMLCNNSettings
from labelspace.row_forest import _split_kernels as splits
from labelspace.search.result import SearchResult
from labelspace.spaces import poincare
from labelspace.topk import TopK
from labelspace.voting import vote_weights
from tests.planted import planted_corpus

PAGES = Path(__file__).resolve().parents[2] / "docs" / "methods"
QUOTED: dict[str, list[str]] = {}
# Formulas that are worked out beside the code, and by which test.
BESIDE_THE_CODE: dict[str, dict[str, str]] = {
    "hierarchicalxc.md": {
        "L = 1/d ‖D(E(x)) − x‖²": (
            "hierarchical_xc/test_linear_autoencoder.py::"
            "test_the_loss_is_the_mean_squared_error_of_rows_alone"
        ),
        "d_ij = −|c_i ∩ c_j|                       likeness='cooccurrence'": (
            "hierarchical_xc/test_complete_link.py::test_distances_are_those_of_the_formulas"
        ),
        "d_ij = −|c_i ∩ c_j| / |c_i ∪ c_j|         likeness='iou'": (
            "hierarchical_xc/test_complete_link.py::test_distances_are_those_of_the_formulas"
        ),
        "d_IJ = max_{i ∈ I, j ∈ J} d_ij            of two clusters": (
            "hierarchical_xc/test_complete_link.py::test_distances_are_those_of_the_formulas"
        ),
        "P = σ(a·logit(p) + b)": (
            "hierarchical_xc/test_platt.py::test_the_formula_holds_for_numbers_worked_out_by_hand"
        ),
        "a = 1 + s(a₀ − 1),   b = s·b₀,   s = min(1, 5,000 / n)": (
            "hierarchical_xc/test_model.py::"
            "test_a_larger_corpus_goes_a_share_of_the_way_to_what_was_learned"
        ),
    },
    "label-compression.md": {
        "V = argmax tr(Vᵀ Ȳᵀ P Ȳ V),  VᵀV = I:    the first eigenvectors of ȲᵀPȲ": (
            "label_compression/test_principal_labels.py::"
            "test_cplst_has_the_eigenvectors_of_dense_numpy"
        ),
        "scores of x = x·W·Vᵀ + mean of the labels": (
            "label_compression/test_principal_labels.py::test_all_directions_are_ridge_regression"
        ),
        "P = X(XᵀX + λI)⁻¹Xᵀ": (
            "label_compression/test_principal_labels.py::"
            "test_cplst_has_the_eigenvectors_of_dense_numpy"
        ),
        "c = A·y,    A_jl = ±1/√m": (
            "label_compression/test_compressed_sensing.py::test_codes_are_random_sums_of_columns"
        ),
        "y = argmin ‖A·y − c‖   over y with as many entries as labels are asked for": (
            "label_compression/test_compressed_sensing.py::"
            "test_the_labels_are_those_of_all_sets_that_fit_best"
        ),
        "p_l = ‖row l of V_m‖²/m": (
            "label_compression/test_column_subset.py::test_leverage_is_that_of_dense_numpy"
        ),
        "scores of x = c(x)·C⁺Y        c(x): what the regression says of the labels in C": (
            "label_compression/test_column_subset.py::"
            "test_decoder_is_the_pseudo_inverse_of_dense_numpy"
        ),
    },
    "label-trees.md": {
        "node   min  ½ ‖w_c‖² + C Σ_{i at the parent of c} max(0, 1 − y_ic w_c·x_i)²"
        "      y_ic = ±1": (
            "../linear/test_node_classifiers.py::"
            "test_siblings_are_told_apart_on_the_rows_at_their_parent"
        ),
        "γ Σ_j ‖w_j‖² + (1/m) Σ_i ξ_i  =  2γ (½ Σ_j ‖w_j‖² + C Σ_i ξ_i)      C = 1/(2γm)": (
            "label_trees/test_one_slack.py::"
            "test_slacks_as_they_are_have_the_weight_that_gamma_gives_them"
        ),
        "P(c | its parent, x) = 1 / (1 + e^{−3 w_c·x})               a classifier of each child": (
            "label_trees/test_label_tree.py::test_margins_become_probabilities"
        ),
        "                     = e^{8 w_c·x} / Σ_s e^{8 w_s·x}        one slack for a row": (
            "label_trees/test_label_tree.py::test_margins_become_probabilities"
        ),
        "A_rs = Σ_{k ∈ r, l ∈ s} A_kl": (
            "label_trees/test_label_embedding_tree.py::"
            "test_nodes_are_as_alike_as_their_labels_are_together"
        ),
    },
    "leml.md": {
        "score(l | x) = xW·h_l": ("leml/test_model.py::test_scores_are_products_of_row_and_label"),
    },
    "neuralxc.md": {
        "L(x, y) = α ‖ψ_i(φ_i(x)) − x‖² + β ‖ψ_o(φ_o(y)) − y‖² + BCE(ψ_o(f(φ_i(x))), y)": (
            "neuralxc/test_task.py::test_with_all_columns_the_loss_is_that_of_the_report"
        ),
        "L(x, y) = α/d_x ‖ψ_i(φ_i(x)) − x‖² + β/d_y ‖ψ_o(φ_o(y)) − y‖²"
        " + 1/d_y BCE(ψ_o(f(φ_i(x))), y)": (
            "neuralxc/test_report_task.py::test_the_loss_is_the_one_on_the_page"
        ),
    },
    "parabel.md": {
        "score(l | x) = mean over trees of  Π_{n on the way to l} e^{−max(0, 1 − w_n·x)²}": (
            "label_trees/test_parabel.py::test_a_path_scores_the_product_of_its_squared_hinges"
        ),
        "w_n = argmin  ½‖w‖² + C Σ_{i at the parent of n} max(0, 1 − s_in w·x_i)²     s_in = ±1": (
            "../linear/test_node_classifiers.py::"
            "test_siblings_are_told_apart_on_the_rows_at_their_parent"
        ),
    },
    "robustxml.md": {
        "min_{W,H,S}  ½‖Y − X(WHᵀ + S)‖² + λ/2 (‖W‖² + ‖H‖²) + μ/2 ‖S‖² + ν‖S‖₁": (
            "leml/test_sparse_part.py::"
            "test_weights_are_those_of_an_elastic_net_on_what_the_factors_leave"
        ),
        "score(l | x) = xW·h_l + x·s_l": (
            "leml/test_robustxml.py::test_scores_are_those_of_both_parts"
        ),
    },
    "row-trees.md": {
        "score(l | x) = tree_l(x)^α · ( 1/(1 + e^{γ ‖x − μ_l‖²}) )^{1 − α}": (
            "row_trees/test_pfastrexml.py::test_scores_are_those_of_the_formula"
        ),
        "answer(x) = the best of { l ∈ D_p } by w_l·x,     D_p = most of Σ_{i ∈ p} v_i y_il": (
            "row_trees/test_lpsr.py::"
            "test_an_answer_is_the_scorers_best_among_the_labels_of_its_parts"
        ),
    },
    "sleec.md": {
        "min_Z  Σ_i Σ_{j ∈ Ω_i} (y_i·y_j − z_i·z_j)²            label vectors y at length one": (
            "sleec/test_singular_value_projection.py::"
            "test_a_step_goes_down_the_gradient_of_the_entries_that_count"
        ),
        "min_W  ½‖Z − XW‖² + λ‖XW‖₁ + ‖W‖² / (4C)": (
            "sleec/test_sparse_regression.py::test_without_l1_it_is_ridge_regression_in_closed_form"
        ),
    },
    "sparse-margins.md": {
        "W = argmin  ½‖W‖² + λ‖W‖₁ + C Σ_i max(0, max_{p ∈ P_i, n ∉ P_i} 1 + w_n·x_i − w_p·x_i)": (
            "sparse_margins/test_active_labels.py::test_no_way_leads_down_from_the_answer"
        ),
        "W = argmin  ½‖W‖² + λ‖W‖₁ + C Σ_i min_{t ≥ 1} L_i(t)": (
            "sparse_margins/test_active_labels.py::"
            "test_the_answer_is_that_of_proximal_steps_on_all_labels"
        ),
        "L_i(t) = Σ_{p ∈ P_i} max(0, 1 + t − w_p·x_i)² + Σ_{n ∉ P_i} max(0, 1 + w_n·x_i − t)²": (
            "sparse_margins/test_active_labels.py::"
            "test_the_answer_is_that_of_proximal_steps_on_all_labels"
        ),
        "w_l = argmin  ½‖w‖² + λ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²"
        "       s_i = +1 if row i has label l, else −1": (
            "sparse_margins/test_working_set.py::test_the_answer_is_the_optimum_over_all_rows"
        ),
        "w_l = argmin  ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²": (
            "sparse_margins/test_working_set.py::test_the_answer_is_the_optimum_over_all_rows"
        ),
    },
    "wsabie.md": {
        "L(rank of y) · (1 + xW·v_w − xW·v_y),   L(r) = 1 + 1/2 + … + 1/r,"
        "   ‖w_f‖ ≤ C, ‖v_l‖ ≤ C": (
            "wsabie/test_warp.py::test_a_step_is_the_gradient_of_the_weighted_margin"
        ),
        "rank of y = max(1, ⌊number of wrong labels / N⌋)": (
            "wsabie/test_warp.py::test_a_step_is_weighted_by_the_rank_that_draws_tell"
        ),
    },
    "xml-cnn.md": {
        "a_f(t)   = relu(b_f + Σ_{j < w} F_fj · e_{t+j})"
        "                    filter f of width w, at word t": (
            "xml_cnn/test_convolutions.py::"
            "test_the_largest_answer_of_each_filter_in_each_part_is_kept"
        ),
    },
}
Test = TypeVar("Test", bound=Callable[..., None])


def quotes(page: str, *lines: str) -> Callable[[Test], Test]:
    """Say which lines of a page a test checks; they have to stand there as they are quoted."""

    def remember(test: Test) -> Test:
        QUOTED.setdefault(page, []).extend(_plain(line) for line in lines)
        return test

    return remember


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


def unit_rows(n: int, dim: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(n, dim))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@quotes(
    "annexml.md",
    "min_V  Σ_i −log e^{S_ii} / Σ_{j ∉ A_i} e^{S_ij}"
    "  +  Σ_j −log e^{S_jj} / Σ_{i: j ∉ A_i} e^{S_ij}"
    "        S_ij = γ cos(z_i, z_p(j))",
)
def test_rows_and_partners_choose_each_other_among_those_of_the_batch() -> None:
    anchors, partners, gamma = unit_rows(3, 4), unit_rows(3, 4, seed=1), 4.0
    # Rows 3, 4, 5 are the partners of 0, 1, 2. Row 0 shares both labels with its own partner and
    # with that of row 1; row 1 both with its own; row 2 shares one of two with each.
    Y = csr_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 0], [1, 1, 0], [1, 0, 1]])
    ignored = alike(Y, np.array([0, 1, 2]), np.array([3, 4, 5]))
    left_out = {(0, 1), (1, 0), (2, 0), (2, 1)}
    assert set(zip(*map(list, np.nonzero(ignored)), strict=True)) == left_out
    S = gamma * anchors @ partners.T
    expected = 0.0
    for own in range(3):
        by_row = [S[own, j] for j in range(3) if (own, j) not in left_out]
        by_partner = [S[i, own] for i in range(3) if (i, own) not in left_out]
        for among in (by_row, by_partner):
            expected -= np.log(np.exp(S[own, own]) / np.exp(among).sum())
    found = contrast(anchors, partners, gamma, ignored=ignored)[0]
    assert found == pytest.approx(expected, rel=1e-5)


@quotes(
    "annexml.md", "vote of row n on x = e^{γ(cos(z_x, z_n) − 1)} / Σ_m e^{γ(cos(z_x, z_m) − 1)}"
)
def test_votes_of_rows_fall_with_their_cosines() -> None:
    found = vote_weights(np.array([[0.9, 0.5, 0.1]], dtype=np.float32), 5.0)
    e = np.exp([-0.5, -2.5, -4.5])
    assert found[0] == pytest.approx(e / e.sum(), rel=1e-5)


@quotes(
    "annexml.md",
    "ℓ_i = Σ_{p ∈ P} −log e^{γ cos(z_i,z_p)} / ( e^{γ cos(z_i,z_p)} + Σ_{n ∈ Q} e^{γ"
    " cos(z_i,z_n)} )",
)
def test_neighbours_stand_against_the_same_rows() -> None:
    cosines, gamma = np.array([0.8, 0.1, 0.5, -0.3]), 10.0  # two of P, then two of Q

    def loss(cosines: np.ndarray) -> float:
        e = np.exp(gamma * cosines)
        return float(sum(-np.log(e[p] / (e[p] + e[2:].sum())) for p in (0, 1)))

    slopes = [(loss(cosines + h) - loss(cosines - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    weights = np.empty(4, dtype=np.float32)
    pairs.pair_weights(cosines.astype(np.float32), np.float32(gamma), weights)
    assert -weights == pytest.approx(np.array(slopes), rel=1e-3)


@quotes("dxml.md", "min_f  Σ_i Σ_d h(f(x_i)_d − t_id),   t_i = V y_i / |y_i|,   h: smooth L1")
def test_a_row_belongs_at_the_mean_of_its_labels() -> None:
    torch = pytest.importorskip("torch")
    from labelspace.models.dxml.losses import smooth_l1
    from labelspace.models.dxml.task import label_shares

    V = np.array([[2.0, 0.0], [0.0, 4.0], [9.0, 9.0]])
    T = label_shares(csr_matrix([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])) @ V
    assert T.tolist() == [[1.0, 2.0], [0.0, 4.0]]
    Z = np.array([[0.5, 0.0], [0.0, 3.5]])
    # h(a) = a²/2 up to one, |a| − ½ beyond; the mean over rows: 0.5²/2 + 1.5 and 0.5²/2
    found = smooth_l1(torch.tensor(Z), torch.tensor(np.asarray(T)))
    assert found.item() == pytest.approx((0.125 + 1.5 + 0.125) / 2)


@quotes(
    "row-trees.md",
    "min  ‖w‖₁ + C Σ_i log(1 + e^{−δ_i w·x_i}) − Σ_i nDCG(r^{δ_i}, y_i)"
    "          δ_i = ±1, r^± rankings",
)
def test_a_side_of_fastxml_ranks_well_and_a_short_plane_tells_the_sides() -> None:
    # Rows 0 and 1 have label 0, rows 2 and 3 label 1: apart, each is ranked first on its side.
    Y = csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    ones, discounts = np.ones(4), 1 / np.log2([2.0, 3.0])
    rows = np.arange(4)
    by_row = [Y.indptr.astype(np.int64), Y.indices, ones[:2], ones]
    sides = splits.sides_by_rankings(rows, *by_row, discounts, np.zeros((2, 2)), np.uint64(1))
    worth = {}
    for told in itertools.product((0, 1), repeat=4):
        counts = np.array([Y[np.array(told) == side].sum(axis=0).A1 for side in (0, 1)])
        worth[told] = float((-np.sort(-counts, axis=1) @ discounts).sum())  # Σ nDCG, best is 4
    assert worth[tuple(sides.tolist())] == max(worth.values()) == pytest.approx(4.0)
    # One feature, 1 where δ = 1 and −1 elsewhere; a side's rows have the weight of all rows, so C
    # counts twice. |w| + 2C · 4 log(1 + e^{−w}) is least where 1 = 8C σ(−w): w = log(8C − 1).
    signs = 2.0 * sides - 1.0
    X, plane = csr_matrix(signs[:, np.newaxis].astype(np.float32)), np.zeros(1)
    for C, w in ((1.0, np.log(7.0)), (0.5, np.log(3.0)), (0.1, 0.0)):
        plane[:] = 0.0
        place = np.full(1, -1, dtype=np.int32)
        _, bias = splits.separate(
            *(X.indptr.astype(np.int64), X.indices, X.data, rows, sides, place, plane),
            *(C, 1e-9, 200, 200, 4, np.uint64(1)),
        )
        assert (plane[0], bias) == pytest.approx((w, 0.0), abs=1e-4)


@quotes("leml.md", "min_{W,H}  Σ_i Σ_l ℓ(y_il, x_iᵀ W h_l) + λ/2 (‖W‖² + ‖H‖²)")
def test_two_factors_are_as_good_as_losses_and_lengths_say() -> None:
    # One row x = 1 with the first of two labels; W = 2, H = (0.5, −1): scores 1 and −2.
    X, Y = csr_matrix([[1.0]]), csr_matrix([[1.0, 0.0]])
    W, H = np.array([[2.0]]), np.array([[0.5], [-1.0]])
    lengths = 0.5 * 0.4 * (4.0 + 0.25 + 1.0)
    by_hand = {"logistic": np.log1p(np.exp(-1.0)) + np.log1p(np.exp(-2.0)), "squared-hinge": 0.0}
    for loss, losses in by_hand.items():
        found = LowRankProblem(X, Y, LOSSES[loss], 0.4).objective(W, H)
        assert found == pytest.approx(losses + lengths)
    # Squared: ½(1 − wh)² + λ/2 (w² + h²) is least where w = h and 1 − w² = λ.
    start = np.array([[1.0], [0.0]], dtype=np.float32)
    told = {"penalty": 0.25, "n_rounds": 60, "n_steps": 5}
    w, h = alternate(X.astype(np.float32), Y.astype(np.float32), start, **told)
    assert (w @ h.T)[0] == pytest.approx([0.75, 0.0], abs=1e-3)


@quotes("robustxml.md", "pull of feature f on label l = x_fᵀ(y_l − XWh_l) = x_fᵀy_l − (XᵀXW)_f h_l")
def test_a_sparse_weight_is_what_is_pulled_beyond_the_price() -> None:
    X, y = np.array([[1.0], [2.0], [0.0]], dtype=np.float32), np.array([1.0, 1.0, 0.0])
    factors = Factors(np.array([[0.5]], np.float32), np.array([[0.4]], np.float32))
    pull = X[:, 0] @ (y - X[:, 0] * 0.5 * 0.4)  # 3 − 5 · 0.2
    assert pull == pytest.approx(3.0 - 5.0 * 0.2)
    told = {"l1": 0.3, "penalty": 0.5, "n_weights": 1, "n_passes": 100}
    found = solve_sparse(csr_matrix(X), csr_matrix(y[:, np.newaxis]), factors, **told)
    assert found[0, 0] == pytest.approx((pull - 0.3) / (5.0 + 0.5), abs=1e-5)


@quotes(
    "sparse-margins.md",
    "w_l = shrunk(Σ_i α_il x_i − Σ_j α_jl x_j, λ)        rows i with label l, j without it; α ≥ 0",
    "dual of min_t L_i(t):  Σ_l α_il² / (4C),  Σ_{p ∈ P_i} α_ip = Σ_{n ∉ P_i} α_in, or larger if"
    " t = 1",
)
def test_weights_of_pd_sparse_are_sums_of_rows_with_lambda_taken_off() -> None:
    X, Y = planted_corpus(80, n_labels=8)
    told = {"C": 0.5, "shrink": 0.1, "tol": 1e-6, "max_searches": 200, "max_passes": 10}
    weights, biases, _ = train_together(X, Y, loss="threshold", **told)
    mine = Y.toarray() > 0
    scores = np.asarray(X @ weights.toarray().T) + biases
    alpha, thresholds = np.empty(scores.shape), []
    for row, (values, own) in enumerate(zip(scores, mine, strict=True)):

        def missing(t: float, values: np.ndarray = values, own: np.ndarray = own) -> np.ndarray:
            return np.maximum(0, np.where(own, 1 + t - values, 1 + values - t))

        best = minimize_scalar(
            lambda t, missing=missing: np.square(missing(t)).sum(),
            bounds=(1.0, 20.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        thresholds.append(best.x)
        # α²/(4C) is the price of α that belongs to C times the square of what a margin misses.
        alpha[row] = 2 * 0.5 * missing(best.x)
    surplus = np.where(mine, alpha, -alpha).sum(axis=1)
    low = np.array(thresholds) < 1 + 1e-3
    assert {True, False} == set(low.tolist())
    assert np.allclose(surplus[~low], 0.0, atol=1e-3)
    assert np.all(surplus[low] > -1e-2)
    sums = np.where(mine, alpha, -alpha).T @ X.toarray()
    shrunk = np.sign(sums) * np.maximum(np.abs(sums) - 0.1, 0.0)
    assert np.allclose(weights.toarray(), shrunk, atol=1e-2)


@quotes(
    "sparse-margins.md",
    "min_α  ½‖shrunk(Σ_i α_i s_i x_i, λ)‖² + Σ_i α_i² / (4C) − Σ_i α_i   with  α_i ≥ 0",
)
def test_the_dual_of_ppd_sparse_is_as_high_as_the_problem_is_low() -> None:
    X, Y = planted_corpus(300)
    exact = {"loss": "squared_hinge_dual", "C": 0.5, "shrink": 0.2, "tol": 1e-4}
    weights, biases, _ = train_sparse(X, Y, max_passes=2000, **exact)
    w, b = weights[3].toarray().ravel(), biases[3]
    s = np.where(Y[:, 3].toarray().ravel() > 0, 1.0, -1.0)
    missing = np.maximum(0, 1 - s * (X @ w + b))
    primal = 0.5 * (w @ w + b * b) + 0.2 * np.abs(w).sum() + 0.5 * np.square(missing).sum()
    alpha = 2 * 0.5 * missing
    sums = X.T @ (alpha * s)
    shrunk = np.sign(sums) * np.maximum(np.abs(sums) - 0.2, 0.0)
    assert w == pytest.approx(shrunk, abs=1e-2)
    bias = alpha @ s  # of the constant feature, which is not shrunk
    dual = 0.5 * (shrunk @ shrunk + bias**2) + np.square(alpha).sum() / 2.0 - alpha.sum()
    assert -dual == pytest.approx(primal, rel=1e-2)


@quotes("glas.md", "L = (1/B) Σ_i ℓ(z_i·V, y_i) + λ mean_{a,b} (v_a·v_b − ½(F(a|b) + F(b|a)))²")
def test_products_of_labels_are_to_be_how_often_they_come_together() -> None:
    pytest.importorskip("torch")
    from labelspace.graph.cooccurrence import cooccurrence, similarity
    from labelspace.models.glas.settings import GLaSSettings
    from labelspace.models.glas.task import GLaSTask

    X = csr_matrix(np.array([[1, 2], [0, 1], [3, 1]], dtype=np.float32))
    Y = csr_matrix(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=np.float32))
    # F(0|1) = F(1|0) = 1/2; labels 0 and 2 never meet; F(1|2) = 1, F(2|1) = 1/2
    U = np.array([[1, 1 / 2, 0], [1 / 2, 1, 3 / 4], [0, 3 / 4, 1]])
    likeness = similarity(cooccurrence(Y), 3, "arithmetic")
    told = GLaSSettings(
        hidden=(), dim=4, keep_features=1.0, biases=False, loss="margin", margin=0.3
    )
    told = replace(told, regularizer_weight=10.0, keep_duplicates=True)
    task = GLaSTask(X, Y, told, likeness=likeness, seed=1)
    rows, rng = np.array([0, 1, 2]), np.random.default_rng(5)
    losses = task.loss(rows, rng)
    drawn = task.sampler.draw(rows, np.random.default_rng(5)).chosen
    Z, V = task.network.exported("float32").encode(X), task.label_vectors()[0]
    h = Z @ V.T
    fit = 0.0  # ℓ of the label drawn for a row: Σ_{y'} [h_y' − h_y + c]₊ over labels not its own
    for i, y in enumerate(drawn):
        others = np.flatnonzero(Y[i].toarray()[0] == 0)
        fit += sum(max(0.0, h[i, other] - h[i, y] + 0.3) for other in others) / 3
    some = V[drawn]
    penalty = np.mean((some @ some.T - U[np.ix_(drawn, drawn)]) ** 2)
    assert losses["loss"].item() == pytest.approx(fit + 10.0 * penalty, rel=1e-5)
    assert min(fit, penalty) > 0.01
    assert likeness.toarray() == pytest.approx(U, abs=1e-6)


@quotes(
    "glas.md", "ℓ(z·V, y) = Σ_{y'} max(0, z·v_y' − z·v_y + c)        y' not of the row's labels"
)
def test_a_drawn_label_is_to_stand_above_all_that_are_not_the_rows() -> None:
    torch = pytest.importorskip("torch")
    from labelspace.deep import label_losses

    # Labels 0 and 3 are the row's, 3 is drawn, c is ½: 0.6 − 0.4 + 0.5 of label 1, 0.1 − 0.4 + 0.5
    # of label 2, nothing of label 0, though it stands above, and of label 4, which is far below.
    h = torch.tensor([[0.9, 0.6, 0.1, 0.4, -0.5]])
    relevant = torch.tensor([[True, False, False, True, False]])
    found = label_losses.margin(h, relevant, torch.tensor([3]), 0.5)
    assert found.item() == pytest.approx(0.7 + 0.2)


@quotes("glas.md", "score(l | x) = σ( s·z·v_l + b_l + tail · ln(1/p_l) )")
def test_rare_labels_are_raised_by_what_psp_divides_by() -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, labels = rng.random((30, 4)), ["often"] * 20 + ["rare"] * 7 + ["once"] * 3
    top = {
        tail: GLaS(tail=tail, dim=4, n_epochs=1, settings={"storage": "float32"}, random_state=0)
        .fit(X, [[label] for label in labels])
        .predict_topk(X[:5], 3)
        for tail in (0.0, 1.5)
    }
    logits = {}
    for tail, found in top.items():
        order = np.argsort(found.labels, axis=1)
        scores = np.take_along_axis(found.scores, order, axis=1).astype(float)
        logits[tail] = np.log(scores / (1.0 - scores))
    # 1/p = 1 + C (n + B)^−A with A = 0.55, B = 1.5 and C = (ln N − 1)(B + 1)^A; classes in order
    C = (np.log(30) - 1) * 2.5**0.55
    raised = 1.5 * np.log(1 + C * (np.array([20, 3, 7]) + 1.5) ** -0.55)
    assert logits[1.5] - logits[0.0] == pytest.approx(np.tile(raised, (5, 1)), abs=1e-3)


@quotes(
    "hyperbolic.md",
    "min  Σ_j Σ_i −log  e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )",
    "d(u, v) = 2 arsinh( ‖u − v‖ / √((1 − ‖u‖²)(1 − ‖v‖²)) )",
)
def test_a_row_is_nearer_to_its_labels_than_to_others() -> None:
    U, V, alpha = 0.7 * unit_rows(2, 2), 0.4 * unit_rows(3, 2, seed=1), 3.0

    def d(u: np.ndarray, v: np.ndarray) -> float:
        apart = np.linalg.norm(u - v) / np.sqrt((1 - u @ u) * (1 - v @ v))
        return float(2 * np.arcsinh(apart))

    assert poincare.distance(U[0], V[0]) == pytest.approx(d(U[0], V[0]))
    has = np.array([[True, True, False], [False, True, False]])
    e = np.array([[np.exp(-alpha * d(u, v)) for v in V] for u in U])
    expected = 0.0
    for j in range(2):
        for i in np.flatnonzero(has[j]):
            expected -= np.log(e[j, i] / (e[j][~has[j]].sum() + e[j, i]))
    found = approach_labels(U, V, has, alpha, summed=True)[0]
    assert 2 * found == pytest.approx(expected)  # a mean over both rows


@quotes(
    "hyperbolic.md",
    "min  Σ_j 1/n_j Σ_i −log  e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )"
    "        n_j labels of row j",
)
def test_by_default_a_row_counts_once_however_many_labels_it_has() -> None:
    # Row 0 in the middle, labels 0 and 1 at distance ln 3 of it, label 2 at ln 9; α = 1. Row 0 has
    # labels 0 and 1: twice log(1 + (1/9) / (1/3)), halved. Row 1 is label 2's place and has it.
    U = np.array([[0.0, 0.0], [0.0, 0.8]])
    V = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.8]])
    has = np.array([[True, True, False], [False, False, True]])
    apart = 2 * np.arcsinh(np.sqrt(0.25 + 0.64) / np.sqrt(0.75 * 0.36))  # of row 1 to labels 0, 1
    expected = np.log(4 / 3) + np.log(1 + 2 * np.exp(-apart))
    found = approach_labels(U, V, has, 1.0, summed=False)[0]
    assert 2 * found == pytest.approx(expected)  # a mean over both rows


@quotes("hyperbolic.md", "p(z) = z / (‖z‖ + ε)  if ‖z‖ ≥ 1,  else z        u = p(θᵀx)")
def test_what_is_outside_the_ball_is_brought_back_to_its_edge() -> None:
    theta = np.array([[3.0, 4.0], [0.3, 0.0]], dtype=np.float32)
    encoder = SpaceEncoder(theta, None, "poincare", "clip", "float32")
    u = encoder.encode(csr_matrix([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]], dtype=np.float32))
    far = 5.0 / (5.0 + poincare.EDGE)
    expected = np.array([[0.6 * far, 0.8 * far], [0.6, 0.0], [0.3, 0.0]])
    assert u == pytest.approx(expected, abs=1e-7)
    on_the_edge = poincare.project(np.array([[0.0, 1.0]]))[0]
    assert on_the_edge == pytest.approx(np.array([[0.0, 1 / (1 + poincare.EDGE)]]), abs=1e-12)


@quotes("hyperbolic.md", "u = z / (1 + √(1 + ‖z‖²))        z = θᵀx")
def test_by_default_rows_get_into_the_ball_by_the_lorentz_form() -> None:
    # √(1 + 0.75²) = 1.25 and √(1 + (4/3)²) = 5/3
    theta = np.array([[0.0, 0.75], [4 / 3, 0.0]], dtype=np.float32)
    encoder = SpaceEncoder(theta, None, "poincare", "lift", "float32")
    u = encoder.encode(csr_matrix(np.eye(2, dtype=np.float32)))
    assert u == pytest.approx(np.array([[0.0, 1 / 3], [0.5, 0.0]]), abs=1e-6)


def adams(slopes: list[float]) -> float:
    """Return the direction of Adam's last step after these slopes."""
    mean = square = 0.0
    for slope in slopes:
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
    t = len(slopes)
    return mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)


@quotes("hyperbolic.md", "v ← p( v − η ((1 − ‖v‖²)/2)² A(∂L/∂v) )")
def test_a_label_moves_by_adams_step_times_the_factor_of_its_place() -> None:
    settings = HyperbolicSettings(dim=1, optimizer="adam", way="clip")
    labels = LabelPoints(csr_matrix([[1.0]]), settings, np.random.default_rng(0))
    v, eta = 0.6, 0.5
    for slopes in ([3.0], [3.0, -1.0]):
        moved = labels._moved(np.array([[v]]), np.array([slopes[-1:]]), np.array([0]), eta)
        v -= eta * ((1 - v**2) / 2) ** 2 * adams(slopes)
        assert moved == pytest.approx(np.array([[v]]), abs=1e-6)
    # A step that leads out of the ball ends at the edge: 0.6 + 10 · 0.1024 is beyond it.
    labels = LabelPoints(csr_matrix([[1.0]]), settings, np.random.default_rng(0))
    moved = labels._moved(np.array([[0.6]]), np.array([[-3.0]]), np.array([0]), 10.0)
    assert moved == pytest.approx(np.array([[1.0 - poincare.EDGE]]), abs=1e-6)


@quotes(
    "hyperbolic.md",
    "θ ← θ − η A( Σ_j x_j ((1 − ‖u_j‖²)/2)² ∂L/∂z_j )        z_j = θᵀx_j",
)
def test_the_map_moves_by_adams_step_of_what_rows_with_their_factors_want() -> None:
    # Three rows of one feature: two inside the ball; the third is beyond its edge, where a step
    # outwards changes nothing: ∂u/∂z is ε/(z + ε)² there.
    x, eta, dL_du = np.array([2.0, 1.0, 20.0]), 0.01, np.array([[1.0], [-4.0], [2.0]])
    settings = HyperbolicSettings(dim=1, optimizer="adam", way="clip")
    X = csr_matrix(x[:, np.newaxis].astype(np.float32))
    rows = RowStep(X, settings, np.random.default_rng(0))
    theta, slopes = 0.2, []
    rows.weights[:] = theta
    for _ in range(2):
        rows.encode(np.arange(3))
        rows.descend(dL_du.copy(), eta)
        z = theta * x
        inside = np.abs(z) < 1
        u = np.where(inside, z, z / (np.abs(z) + poincare.EDGE))
        du_dz = np.where(inside, 1.0, poincare.EDGE / (np.abs(z) + poincare.EDGE) ** 2)
        slopes.append(float(np.sum(x * ((1 - u**2) / 2) ** 2 * dL_du[:, 0] * du_dz)))
        theta -= eta * adams(slopes)
        assert rows.weights == pytest.approx(np.array([[theta]]), abs=1e-5)
        dL_du = np.array([[3.0], [1.0], [-5.0]])


@quotes(
    "knn.md",
    "score of label l for x  =  Σ_i cos(x, x_i)^power · [row i has l]  /  Σ_i cos(x, x_i)^power",
)
def test_nearer_rows_have_more_to_say() -> None:
    X, x = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[0.8, 0.6]])
    model = NearestNeighbors(n_neighbors=2, power=2.0).fit(X, [["near"], ["nearer"]])
    top = model.predict_topk(x, 2)
    votes = {"near": 0.8**2, "nearer": 0.96**2}
    for label, score in zip(model.classes_[top.labels[0]], top.scores[0], strict=True):
        assert score == pytest.approx(votes[label] / sum(votes.values()), rel=1e-4)


@quotes(
    "label-trees.md",
    "1   min  ½ Σ_j ‖w_j‖² + C Σ_i Σ_j max(0, 1 − C_j(y_i) w_j·x_i)²        every"
    " node against all rows",
)
def test_a_node_by_itself_tells_its_rows_from_all_others() -> None:
    X, C = np.array([[1.0, 0.5], [0.2, 1.0], [0.9, 0.1]]), 2.0
    sign = np.array([1.0, -1.0, -1.0])
    with_constant = np.column_stack((np.ones(3), X))

    def objective(w: np.ndarray) -> float:
        return 0.5 * w @ w + C * np.sum(np.maximum(0, 1 - sign * (with_constant @ w)) ** 2)

    least = minimize(objective, np.zeros(3), tol=1e-10)
    weights, biases, _ = train_squared_hinge(
        csr_matrix(X, dtype=np.float32), csr_matrix((sign > 0)[:, np.newaxis]), C=C, tol=1e-5
    )
    found = np.concatenate((biases, weights.toarray()[0]))
    assert found == pytest.approx(least.x, abs=1e-3)


@quotes(
    "label-trees.md",
    "2   min  ½ Σ_j ‖w_j‖² + C Σ_i ξ_i²    w_r·x_i ≥ w_s·x_i + 1 − ξ_i      r right,"
    " s its wrong sibling",
)
def test_siblings_keep_a_margin() -> None:
    # One row of squared length 2 with its constant, two labels: w_r = −w_s = a x, ξ = 1 − 4a, and
    # ½ · 2 · 2a² + C (1 − 4a)² is least at a = 2C / (1 + 8C).
    X, tree, C = csr_matrix(np.ones((1, 1), dtype=np.float32)), flat_tree(np.arange(2), 2), 0.7
    right = tree.positive_nodes(csr_matrix([[1.0, 0.0]]))
    trained = train_one_slack(X, tree, right, C=C, tol=1e-6, max_iter=500)
    a = 2 * C / (1 + 8 * C)
    assert trained.biases[1:] == pytest.approx([a, -a], abs=1e-4)


@quotes(
    "label-trees.md",
    "joint      min γ‖W‖² + (1/m) Σ ξ_i²    Wx_i·V_y + b_y ≥ Wx_i·V_j + b_j + 1 − ξ_i,  ‖V_j‖ ≤ 1",
)
def test_the_joint_problem_has_the_slack_of_the_worst_label() -> None:
    tree, z = flat_tree(np.arange(3), 3), np.array([0.5, -1.0], dtype=np.float32)
    vectors = np.concatenate((np.zeros((1, 2)), unit_rows(3, 2))).astype(np.float32)
    biases = np.array([0.0, 0.1, 0.3, -0.2], dtype=np.float32)
    scores = vectors[1:] @ z + biases[1:]
    xi = max(0.0, 1.0 - scores[0] + scores[1:].max())
    slopes = np.zeros(4, dtype=np.float32)
    is_right = np.array([True, True, False, False])
    parts = z, np.arange(1, 4), tree.parents, is_right, vectors, biases
    found = nodes.row_slopes(*parts, False, np.float32(1.0), True, slopes)
    assert found == pytest.approx(0.5 * xi**2, rel=1e-5)


@quotes(
    "label-trees.md",
    "sequence   min_V Σ A_ij ‖V_i − V_j‖²,  VᵀDV = I,  D_ii = Σ_j A_ij;",
    "           then  min_W γ‖W‖² + (1/m) Σ ξ_i    ‖Wx_i − V_y‖² ≤ ‖Wx_i − V_j‖² + ξ_i",
)
def test_eigenmaps_have_the_least_sum_and_rows_the_slack_of_distances() -> None:
    random = np.random.default_rng(0)
    A = random.random((6, 6))
    A = A + A.T
    V = laplacian_eigenmaps(csr_matrix(A), 2).astype(float)
    with_all = A + BACKGROUND * A.sum(axis=1).mean() / 6  # a little affinity of all with all
    D = np.diag(with_all.sum(axis=1))
    assert pytest.approx(np.eye(2), abs=1e-5) == V.T @ D @ V
    # Σ_ij A_ij ‖V_i − V_j‖² = 2 tr Vᵀ(D − A)V, least for the smallest eigenvalues but the first
    values = np.sort(np.linalg.eigvals(np.linalg.inv(D) @ (D - with_all)).real)
    sums = sum(with_all[i, j] * np.sum((V[i] - V[j]) ** 2) for i in range(6) for j in range(6))
    assert sums == pytest.approx(2 * values[1:3].sum(), rel=1e-4)
    vectors = np.concatenate((np.zeros((1, 2)), V)).astype(np.float32)
    biases = (-0.5 * np.square(vectors).sum(axis=1)).astype(np.float32)
    z, is_right = random.normal(size=2).astype(np.float32), np.arange(7) == 3
    tree, slopes = flat_tree(np.arange(6), 6), np.zeros(7, dtype=np.float32)
    parts = z, np.arange(1, 7), tree.parents, is_right, vectors, biases
    found = nodes.row_slopes(*parts, False, np.float32(0.0), False, slopes)
    distances = np.square(z - vectors[1:]).sum(axis=1)
    assert 2 * found == pytest.approx(max(0.0, distances[2] - distances.min()), abs=1e-4)


@quotes(
    "label-trees.md",
    "C_kl = mean, over the rows i that have label k, of 1/rank_i(l)      l ≠ k, ranks to ten",
    "A    = ½ (C + Cᵀ)                                                 the 20 largest C_kl of k",
)
def test_confusions_are_counted_as_the_page_says() -> None:
    # The first row has two labels: each is an answer for the rows of the other.
    Y = csr_matrix([[1.0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    answers = TopK(np.array([[1, 0], [0, 2], [1, 0], [2, 1]]), np.ones((4, 2), dtype=np.float32))
    C = np.array([[0, 1 / 2, 1 / 4], [1 / 2, 0, 0], [0, 1 / 2, 0]])
    assert confusion_affinity(Y, answers).toarray() == pytest.approx((C + C.T) / 2)
    # Label 0 is taken for label j by j of its rows: the five that are the rarest are left out.
    wrong = np.repeat(np.arange(1, 26), np.arange(1, 26))
    Y = csr_matrix(np.eye(26)[np.append(np.zeros(wrong.size, dtype=int), np.arange(1, 26))])
    answers = TopK(np.append(wrong, np.arange(1, 26))[:, np.newaxis], np.ones((350, 1), np.float32))
    C = np.zeros((26, 26))
    C[0, 6:] = np.arange(6, 26) / wrong.size
    assert confusion_affinity(Y, answers).toarray() == pytest.approx((C + C.T) / 2)
    assert N_ANSWERS == 10


@quotes("most-common.md", "score of label l  =  n_l / N")
def test_a_frequent_label_scores_by_its_share() -> None:
    model = MostCommon().fit(np.ones((4, 1)), [["a"], ["a", "b"], ["a"], ["b"]])
    assert model.predict_topk([[1.0]], 2).scores[0] == pytest.approx([3 / 4, 2 / 4])


@quotes(
    "one-vs-all.md",
    "w_l = argmin  ½‖w‖² + C Σ_i max(0, 1 − s_i w·x_i)²        s_i = +1 if row i has"
    " label l, else −1",
    "score of label l for x  =  w_l·x",
)
def test_one_classifier_for_each_label() -> None:
    X, y = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), ["a", "a", "b"]
    model = OneVsAll(C=0.5, min_weight=0.0, idf=False, tol=1e-5).fit(X, y)
    with_constant, sign = np.column_stack((np.ones(3), X)), np.array([1.0, 1.0, -1.0])

    def objective(w: np.ndarray) -> float:
        return 0.5 * w @ w + 0.5 * np.sum(np.maximum(0, 1 - sign * (with_constant @ w)) ** 2)

    w = minimize(objective, np.zeros(3), tol=1e-10).x
    top = model.predict_topk(X[1:2], 2)
    score = dict(zip(top.labels[0], top.scores[0], strict=True))
    assert score[0] == pytest.approx(with_constant[1] @ w, abs=1e-3)


@quotes(
    "sleec.md",
    "vote of row n on x = e^{−d_n² / mean d²} / Σ_m e^{−d_m² / mean d²}"
    "        d_n: distance of x and n",
)
def test_nearer_rows_of_sleec_have_more_to_say() -> None:
    model = SLEEC()
    model.settings_, model.learners_ = SLEECSettings(voting="distance"), [None]
    squares = np.array([[1.0, 2.0, 6.0]], dtype=np.float32)
    found = model._weights(SearchResult(np.array([[4, 1, 7]]), -squares))
    e = np.exp([-1 / 3, -2 / 3, -2])
    assert found[0] == pytest.approx(e / e.sum(), rel=1e-5)


@quotes("smce.md", "min_c  λ ‖q ⊙ c‖₁ + ½ ‖Ȳ c‖²   with  Σ c = 1")
def test_a_point_is_expressed_at_the_least_cost() -> None:
    points = np.random.default_rng(3).normal(size=(5, 2))
    solved = express(points, n_candidates=4, penalty=0.5, tol=1e-12)
    others = points[solved.candidates[0]] - points[0]
    lengths = np.linalg.norm(others, axis=1)
    directions, q = others / lengths[:, np.newaxis], lengths / lengths.sum()

    def cost(c: np.ndarray) -> float:
        return 0.5 * np.abs(q * c).sum() + 0.5 * np.sum((c @ directions) ** 2)

    found = cost(solved.coefficients[0])
    random = np.random.default_rng(0)
    for _ in range(300):
        step = random.normal(size=4) * random.choice([1.0, 0.1, 0.01])
        assert cost(solved.coefficients[0] + step - step.mean()) >= found - 1e-9


@quotes(
    "hierarchicalxc.md",
    "p(l | x) = Π_n σ(w_n·x + b_n)        over the nodes n from below the root to label l",
)
def test_a_path_multiplies_the_chances_of_its_steps() -> None:
    tree = Tree.from_nested([[0, 1], 2], n_labels=3)  # nodes: root, {0, 1}, {2}, {0}, {1}
    weights = csr_matrix(np.array([[0.0], [0.4], [-0.6], [1.0], [-2.0]], dtype=np.float32))
    biases = np.array([0.0, 0.1, 0.2, 0.0, 0.3], dtype=np.float32)
    index = BestFirstIndex(tree, weights, biases)
    x = 0.5
    found = index.search(csr_matrix([[x]], dtype=np.float32), 3).top
    chance = 1 / (1 + np.exp(-(weights.toarray().ravel() * x + biases)))
    expected = {0: chance[1] * chance[3], 1: chance[1] * chance[4], 2: chance[2]}
    for label, score in zip(found.labels[0], found.scores[0], strict=True):
        assert np.exp(score) == pytest.approx(expected[label], rel=1e-4)


@quotes(
    "labelspace.md",
    "p(label | x) = σ( a · φ(margin, share of the votes, cosine of row and label, frequency)"
    " + trees )",
)
def test_evidence_is_weighed_and_trees_add_to_the_log_odds() -> None:
    m, s, c, count = 0.8, 0.25, 0.6, 19
    log_s, f = np.log(s + SMALLEST_SHARE), (np.log(1 + count) - 4) / 2
    of_name = [0.0] * 4  # nothing is known of names
    phi = [1, m, log_s, m * log_s, s, f, f * m, f * log_s]
    phi += [m + 1, m + 0.5, m, m - 0.5, log_s + 3, log_s + 2, max(log_s + 1, 0)]
    phi += [f * f, c, c * f, c * m, *of_name]
    a = np.random.default_rng(0).normal(scale=0.3, size=len(phi))
    # A tree of one question that is always answered with no, and one always with yes.
    splits, thresholds = np.zeros((2, 1), dtype=np.int16), np.array([[1e12], [-1e12]])
    values = np.array([[0.4, 9.0], [9.0, -0.15]])
    trees = BoostedTrees(splits, thresholds.astype(np.float32), values.astype(np.float32))
    margin, share, cosine = (np.full((1, 1), one, dtype=np.float32) for one in (m, s, c))
    names, vectors = np.zeros((1, 1, 5), np.float32), np.zeros((1, 1, 0), np.float32)
    known = cosine, share, names, vectors, np.zeros((1, 4), np.float32)
    candidates = Candidates(np.zeros((1, 1), np.int64), margin, share, cosine, *known)
    found = Stacker(a, trees).probabilities(candidates, np.array([count]))
    assert found[0, 0] == pytest.approx(expit(a @ phi + 0.4 - 0.15), abs=1e-5)


@quotes(
    "xml-cnn.md",
    "g        = Σ_w log(1 + n_w) u_w / √(Σ_w log²(1 + n_w))"
    "             the bag: word w is there n_w times",
    "h        = relu(B [max_{t in part} a_f(t)]_{f, part} + G g + c)    the bottleneck",
    "P(l | x) = σ(v_l · h + b_l)",
)
def test_a_label_has_the_chance_of_its_product_with_the_bottleneck() -> None:
    # Two words, one filter of width 1 that says what a word's vector is; both in one part: 3.
    # The second word is there three times, so that log 4 = 2 log 2: g = (4 + 2 · 3) / √5 = 2 √5.
    # h = relu(3 + √5 · 2 √5 − 1, −3 − 1) = (12, 0)
    network = WordConvolutions(
        word_vectors=np.array([[2.0], [3.0]], dtype=np.float32),
        filters=np.ones((1, 1), dtype=np.float32),
        filter_biases=np.zeros((1, 1), dtype=np.float32),
        widths=np.array([1]),
        n_parts=1,
        part_length=4,
        hidden=np.array([[1.0, -1.0], [5**0.5, 0.0]], dtype=np.float32),
        hidden_biases=np.array([-1.0, -1.0], dtype=np.float32),
        label_vectors=np.array([[0.3, 5.0], [-0.5, 5.0]], dtype=np.float32),
        label_biases=np.array([0.1, 0.2], dtype=np.float32),
        bag_vectors=np.array([[4.0], [3.0]], dtype=np.float32),
    )
    row = csr_matrix([[1.0, 2.0, 2.0, 2.0]], dtype=np.float32)  # the first word, then the second
    model = XMLCNN()
    model.network_, model.label_ids_, model.rows_ = network, np.arange(2), None
    model.settings_ = XMLCNNSettings()
    top = model._predict_topk(row, 2)
    assert top.labels[0].tolist() == [0, 1]
    assert top.scores[0] == pytest.approx(expit([0.3 * 12 + 0.1, -0.5 * 12 + 0.2]), rel=1e-5)


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_every_formula_on_a_page_is_quoted(page: str) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    kinds = set(re.findall(r"^ *```(.*)\n(?:.*\n)*? *```$", text, flags=re.MULTILINE))
    assert kinds <= {"text", "python", "console"}, "a formula stands in a block of text"
    blocks = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in _formulas(block)]
    stands = _plain(text)
    for quoted in QUOTED.get(page, []):
        assert quoted in stands, f"{page} says otherwise"
    elsewhere = BESIDE_THE_CODE.get(page, {})
    for line, place in elsewhere.items():
        assert _plain(line) in stands, f"{page} no longer says {line!r}"
        file, _, test = place.partition("::")
        assert f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")
    checked = [*QUOTED.get(page, []), *(_plain(line) for line in elsewhere)]
    for line in lines:
        assert _plain(line) in checked, f"no test quotes {line!r} of {page}"


def _formulas(block: str) -> list[str]:
    """Return the lines of a block but commands; of a drawing those that calculate something."""
    lines = [line for line in block.splitlines() if line.strip() and "labelspace " not in line]
    if not any(sign in block for sign in "►▼▲┘│"):
        return lines
    return [line for line in lines if re.search(r"[Σ‖≤=]|min_?", line) and "│" not in line]
