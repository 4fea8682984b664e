"""The spectrum of a sparse affinity: what its Laplacian says of which nodes belong together.

The eigenvectors of the normalised affinity D^-½ A D^-½ with the largest eigenvalues are those of
the Laplacian with the smallest: they vary slowly along edges. Clusters are read off them, and
coordinates are made of them:

    min_V  Σ_ij A_ij ‖V_i − V_j‖²   such that   Vᵀ D V = I,   D_ii = Σ_j A_ij
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csc_matrix, csr_matrix, diags, identity
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, splu

BACKGROUND = 0.05  # affinity of all with all, as a share of the mean: it joins what is apart
_DENSE = 400  # up to so many nodes a dense solver is quicker


class Spectrum(NamedTuple):
    """The largest eigenvalues, their vectors (n, n_vectors), and the degrees D (n,)."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    degrees: NDArray[np.float64]


def laplacian_eigenmaps(affinity: csr_matrix, dim: int, seed: int = 0) -> NDArray[np.float32]:
    """Return ``dim`` coordinates of each node, V with Vᵀ D V = I; the constant one is left out.

    A little affinity of all with all is added, as a graph in pieces has no single answer; so D is
    that of the sum.

    Examples
    --------
    >>> V = laplacian_eigenmaps(csr_matrix(np.ones((4, 4)) - np.eye(4)), dim=2)
    >>> V.shape
    (4, 2)
    """
    n = affinity.shape[0]
    _, found, degrees = leading_eigenvectors(
        affinity, min(dim + 1, n), background=BACKGROUND, tol=1e-5, seed=seed
    )
    V = np.zeros((n, dim))
    V[:, : found.shape[1] - 1] = found[:, 1:] / np.sqrt(degrees)[:, np.newaxis]
    return V.astype(np.float32)


def leading_eigenvectors(
    affinity: csr_matrix,
    n_vectors: int,
    *,
    background: float = 0.0,
    tol: float = 0.0,
    max_restarts: int | None = None,
    seed: int = 0,
) -> Spectrum:
    """Return the leading eigenvectors of D^-½ A D^-½, largest eigenvalue first.

    Parameters
    ----------
    affinity : csr_matrix of shape (n, n)
        Symmetric, not negative.
    n_vectors : int
    background : float
        Affinity of all with all that is added, as a share of the mean.
    tol : float
        How exact eigenvalues are; 0 is as exact as floats can be.
    max_restarts : int, optional
        Restarts of Lanczos' iteration. It is quick where eigenvalues stand apart; on long thin
        graphs they crowd below one. A graph that is not solved by then is factorised, which costs
        little on those; without a bound, what has converged is taken.

    Examples
    --------
    >>> path = csr_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> abs(leading_eigenvectors(path, 2).values.round(2))
    array([1., 0.])
    """
    n = affinity.shape[0]
    affinity = csr_matrix(affinity, dtype=np.float64)
    sums = np.asarray(affinity.sum(axis=1)).ravel()
    everywhere = max(background * sums.mean(), 1e-12) / n if background else 0.0
    degrees = sums + everywhere * n
    scales = 1.0 / np.sqrt(degrees)
    if n <= max(_DENSE, n_vectors):
        dense = (affinity.toarray() + everywhere) * scales * scales[:, np.newaxis]
        values, vectors = eigh(dense, subset_by_index=[n - n_vectors, n - 1])
        return Spectrum(values[::-1], vectors[:, ::-1], degrees)

    def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = scales * x.ravel()
        return scales * (affinity @ scaled + everywhere * scaled.sum())

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(seed).random(n)
    try:
        values, vectors = _lanczos(operator, n_vectors, start, tol, max_restarts)
    except ArpackNoConvergence:
        values, vectors = _factorised(affinity, scales, n_vectors, start)
    order = np.argsort(-values, kind="stable")
    return Spectrum(values[order], vectors[:, order], degrees)


def _lanczos(
    operator: LinearOperator,
    n_vectors: int,
    start: NDArray[np.float64],
    tol: float,
    max_restarts: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues; those that have converged, unless restarts are bounded."""
    ncv = min(len(start), 2 * n_vectors + 20)
    nothing = np.zeros(1), start[:, np.newaxis]
    try:
        return eigsh(
            operator, n_vectors, which="LA", v0=start, ncv=ncv, maxiter=max_restarts, tol=tol
        )
    except ArpackNoConvergence as unfinished:
        if max_restarts is not None:
            raise
        found: Any = unfinished.eigenvalues, unfinished.eigenvectors
        return found if len(found[0]) else nothing
    except ArpackError:
        return nothing


def _factorised(
    affinity: csr_matrix, scales: NDArray[np.float64], n_vectors: int, start: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues near one, all of which are below it, by inverting a shifted matrix."""
    n, shift = affinity.shape[0], 1.0 + 1e-9
    sides: Any = diags([scales], [0])
    scaled = csr_matrix(sides @ affinity @ sides)
    factors = splu(
        csc_matrix(shift * identity(n) - scaled),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    inverse = LinearOperator((n, n), matvec=lambda x: -factors.solve(x), dtype=np.float64)
    return eigsh(scaled, n_vectors, sigma=shift, OPinv=inverse, v0=start)
