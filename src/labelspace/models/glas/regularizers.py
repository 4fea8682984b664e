"""How label vectors should lie to each other, whatever the rows say.

A network with a vector per label fits its training rows almost perfectly and then fails on others.
Guo et al. (2019) keep it from that by what is known about labels beforehand: with unit vectors v
and u_ab the likeness of labels a and b, averaged over all pairs of a sample of labels,

    glas        (v_a·v_b − u_ab)²       pairs are as near as they come together
    spread out  (v_a·v_b)²              all pairs stand at right angles
    laplacian   ‖v_a − v_b‖² u_ab       pairs that come together are near; nothing holds others off
    gravity     (z·v_b)²                rows z and labels stand at right angles

Since ‖v_a − v_b‖² = 2 − 2 v_a·v_b, laplacian + spread out = glas − (u² − 2u): the two make GLaS up
to a constant. All take what a batch has at hand, never labels × labels.
"""

from __future__ import annotations

import torch
from torch import Tensor


def glas(V: Tensor, likeness: Tensor) -> Tensor:
    """Return how far inner products of labels are from their likeness.

    Parameters
    ----------
    V : Tensor of shape (n_labels, dim)
        Unit vectors of a sample of labels.
    likeness : Tensor of shape (n_labels, n_labels)
        1 on the diagonal, 0 for labels that never come together.

    Examples
    --------
    >>> import torch
    >>> glas(torch.eye(2), torch.tensor([[1.0, 0.5], [0.5, 1.0]])).item()
    0.125
    """
    return (V @ V.T - likeness).square().mean()


def spread_out(V: Tensor) -> Tensor:
    """Return how far labels are from standing at right angles to each other."""
    return (V @ V.T).square().mean()


def laplacian(V: Tensor, likeness: Tensor) -> Tensor:
    """Return how far apart labels are that come together."""
    lengths = V.square().sum(dim=1)
    distances = lengths[:, None] + lengths[None, :] - 2.0 * (V @ V.T)
    return (distances * likeness).mean()


def gravity(Z: Tensor, V: Tensor) -> Tensor:
    """Return how far rows are from standing at right angles to labels.

    The sum over all pairs is the inner product of two dim × dim matrices, ZᵀZ and VᵀV.
    """
    return torch.sum((Z.T @ Z) * (V.T @ V)) / (Z.shape[0] * V.shape[0])
