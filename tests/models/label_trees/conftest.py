from __future__ import annotations

import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000], y[:1000], X[1000:], y[1000:]
