from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from labelspace.models.neuralxc import sddmm as module
from labelspace.models.neuralxc.sddmm import NonZeros, sddmm


@pytest.mark.parametrize("block", [3, 4096])
def test_products_are_entries_of_the_dense_product_with_its_gradients(block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 7)) * (rng.random((5, 7)) < 0.4)
    X[1], X[:, 4] = 0.0, 0.0
    generator = torch.Generator().manual_seed(0)
    H, W = (
        torch.randn(n, 3, generator=generator, dtype=torch.float64, requires_grad=True)
        for n in X.shape
    )
    at = NonZeros.of(csr_matrix(X), dtype=np.float64)
    assert torch.allclose(sddmm(H, W, at), (H @ W.T)[at.rows, at.columns])
    assert torch.autograd.gradcheck(lambda h, w: sddmm(h, w, at), (H, W))
