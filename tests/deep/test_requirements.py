"""What cannot be learned is refused before a corpus is read."""

from __future__ import annotations

import sys
from typing import Any

import pytest

pytest.importorskip("torch")

from sklearn.base import BaseEstimator

from labelspace.deep.requirements import check_network, require_torch
from labelspace.errors import UsageError


class Deep(BaseEstimator):
    """An estimator that has a network, as far as the check is concerned."""

    def __init__(self, hidden: Any = None, device: str = "cpu", settings: Any = None) -> None:
        self.hidden = hidden
        self.device = device
        self.settings = settings


@pytest.mark.parametrize("hidden", [[0], [-3], [2.5], ["wide"], [[4]], [True]])
def test_widths_that_are_none_are_refused(hidden: list[Any]) -> None:
    with pytest.raises(UsageError, match="hidden has a layer of width"):
        check_network(Deep(hidden=hidden))
    with pytest.raises(UsageError, match="label_hidden has a layer of width"):
        check_network(Deep(hidden=(8,), settings={"label_hidden": hidden}))


def test_widths_that_are_some_are_taken() -> None:
    for hidden in (None, (), [512], (64, 32)):
        check_network(Deep(hidden=hidden))


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="no GPU"):
        check_network(Deep(device="cuda"))


def test_what_needs_torch_says_so_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"Deep needs PyTorch.*labelspace\[deep\]"):
        check_network(Deep())


def test_a_broken_torch_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise OSError("libtorch.so is missing")

    monkeypatch.setattr("importlib.import_module", fails)
    with pytest.raises(UsageError, match=r"fails \(libtorch.so is missing\): install"):
        require_torch("GLaS")
