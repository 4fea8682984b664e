"""Rows near their targets: the losses by which a network learns where rows belong.

Z are unit vectors of a batch's rows, T where each belongs, such as the mean of its labels' vectors.

    smooth_l1     mean_i Σ_d h(z_id − t_id),  h(a) = a²/2 if |a| ≤ 1 else |a| − ½
    contrastive   mean_i ‖z_i − t_i‖² + mean_{i, n} max(0, m − ‖z_i − t_n‖)²
    triplet       mean_i max(0, m + ‖z_i − t_i‖² − min_n ‖z_i − t_n‖²)
    softmax       mean_i −Σ_j w_ij log( e^{γ z_i·t_j} / Σ_k e^{γ z_i·t_k} )
    rank_labels   mean_i mean_{p ∈ P_i} −log( e^{s_ip} / (e^{s_ip} + Σ_{n ∉ P_i} e^{s_in}) )

Negatives n of a row are the targets of the batch's other rows that are not about as good for it as
its own. In softmax the w_ij say how good each target is: rows sum to one. The last is of scores s
of rows and labels, of which P_i are the row's own: each competes with those that the row lacks, not
with the row's others.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def smooth_l1(Z: Tensor, T: Tensor) -> Tensor:
    """Return how far rows are from their targets, less sensitive to far ones than squares are.

    >>> import torch
    >>> smooth_l1(torch.tensor([[0.5, 3.0]]), torch.zeros(1, 2)).item()
    2.625
    """
    return functional.smooth_l1_loss(Z, T, reduction="none").sum(dim=1).mean()


def contrastive(Z: Tensor, T: Tensor, alike: Tensor, margin: float) -> Tensor:
    """Return what rows lack of lying on their target, and ``margin`` away from other targets.

    >>> import torch
    >>> eye = torch.eye(2)
    >>> contrastive(eye, eye, torch.eye(2, dtype=torch.bool), margin=1.0).item() < 1e-6
    True
    """
    squares = _squared_distances(Z, T)
    near = squares.diagonal().mean()
    # The root's slope has no end at zero.
    gaps = (margin - (squares + 1e-12).sqrt()).clamp_min(0.0).square()
    others = ~alike
    return near + (gaps * others).sum() / others.sum().clamp_min(1)


def triplet(Z: Tensor, T: Tensor, alike: Tensor, margin: float) -> Tensor:
    """Return by how much the nearest wrong target is not ``margin`` farther than the right one.

    >>> import torch
    >>> eye = torch.eye(2)
    >>> triplet(eye, eye, torch.eye(2, dtype=torch.bool), margin=3.0).item()
    1.0
    """
    squares = _squared_distances(Z, T)
    hardest = squares.masked_fill(alike, torch.inf).min(dim=1).values
    return (margin + squares.diagonal() - hardest).clamp_min(0.0).mean()


def softmax(Z: Tensor, T: Tensor, shares: Tensor, gamma: float) -> Tensor:
    """Return the cross-entropy of the batch's targets, of which ``shares`` says how good each is.

    >>> import torch
    >>> eye = torch.eye(2)
    >>> softmax(eye, eye, eye, gamma=20.0).item() < 1e-6
    True
    """
    chances = functional.log_softmax(gamma * (Z @ T.T), dim=1)
    return -(shares * chances).sum(dim=1).mean()


def rank_labels(scores: Tensor, relevant: Tensor) -> Tensor:
    """Return what a row's labels lack of standing above those that it has not.

    >>> import torch
    >>> own = torch.tensor([[True, True, False]])
    >>> rank_labels(torch.tensor([[9.0, 8.0, -9.0]]), own).item() < 1e-6
    True
    """
    others = scores.masked_fill(relevant, -torch.inf).logsumexp(dim=1, keepdim=True)
    each = functional.softplus(others - scores) * relevant
    return (each.sum(dim=1) / relevant.sum(dim=1).clamp_min(1)).mean()


def _squared_distances(Z: Tensor, T: Tensor) -> Tensor:
    lengths = Z.square().sum(dim=1)[:, None] + T.square().sum(dim=1)[None, :]
    return (lengths - 2.0 * (Z @ T.T)).clamp_min(0.0)
