"""What a row's scores should be: its own labels above all others.

Four ways to say so, on the scores of a batch of rows for a sample of labels (rows × labels), of
which ``relevant`` marks each row's own. With h_y the score of label y and c the margin,

    margin            Σ_{y'} [h_y' − h_y + c]₊      y: one of the row's labels, drawn at random;
    negative mining   the same, over the hardest y' only;       y': labels that are not the row's
    softmax           −ln( e^{h_y} / Σ e^{h} )
    binary            −Σ_y ln σ(h_y) − Σ_{y'} ln(1 − σ(h_y'))

all averaged over rows. A sample holds frequent labels more often than rare ones; ``weights`` (one
over the probability that a label is in the sample) make up for it in the last two, where the
sample stands for all labels.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def margin(scores: Tensor, relevant: Tensor, chosen: Tensor, c: float) -> Tensor:
    """Return the margin loss of one label per row against all that are not the row's.

    Parameters
    ----------
    scores : Tensor of shape (n_rows, n_labels)
    relevant : Tensor of shape (n_rows, n_labels), bool
    chosen : Tensor of shape (n_rows,), int
        Column of the label of each row that is to stand above the others.
    c : float
        By how much.
    """
    return _violations(scores, relevant, chosen, c).sum(dim=1).mean()


def negative_mining(
    scores: Tensor, relevant: Tensor, chosen: Tensor, c: float, n_hardest: int = 10
) -> Tensor:
    """Return the margin loss against the ``n_hardest`` highest of the others."""
    violations = _violations(scores, relevant, chosen, c)
    return violations.topk(min(n_hardest, scores.shape[1]), dim=1).values.sum(dim=1).mean()


def softmax(
    scores: Tensor, relevant: Tensor, chosen: Tensor | None = None, weights: Tensor | None = None
) -> Tensor:
    """Return the cross-entropy of the softmax over the sampled labels.

    With ``chosen`` the target is that label; else it is all of the row's labels in equal shares.
    """
    if weights is not None:
        scores = scores + torch.where(relevant, 0.0, weights.log())
    if chosen is not None:
        return functional.cross_entropy(scores, chosen)
    target = relevant.to(scores.dtype)
    target = target / target.sum(dim=1, keepdim=True).clamp_min(1.0)
    return functional.cross_entropy(scores, target)


def binary(scores: Tensor, relevant: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return the binary cross-entropy of every label, summed over labels."""
    target = relevant.to(scores.dtype)
    each = functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
    if weights is not None:
        each = each * torch.where(relevant, 1.0, weights)
    return each.sum(dim=1).mean()


def _violations(scores: Tensor, relevant: Tensor, chosen: Tensor, c: float) -> Tensor:
    own = scores.gather(1, chosen[:, None])
    return torch.where(relevant, 0.0, functional.relu(scores - own + c))
