"""What cannot be learned is refused before a corpus is read."""

from __future__ import annotations

import sys
from typing import Any

import pytest

pytest.importorskip("torch")

from labelspace import models
from labelspace.deep.requirements import require_torch
from labelspace.errors import UsageError


@pytest.mark.parametrize("method", ["glas", "dxml", "neuralxc"])
@pytest.mark.parametrize("hidden", [[0], [-3], [2.5], ["wide"], [[4]], [True]])
def test_widths_that_are_none_are_refused(method: str, hidden: list[Any]) -> None:
    with pytest.raises(UsageError, match="hidden has a layer of width"):
        models.make(method, hidden=hidden)._validate_params()


def test_widths_among_the_settings_are_looked_at_too() -> None:
    with pytest.raises(UsageError, match="label_hidden has a layer of width 0"):
        models.make("neuralxc", label_hidden=[0])._validate_params()


@pytest.mark.parametrize("method", ["glas", "dxml", "neuralxc"])
def test_a_device_that_is_not_there_is_refused(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="no GPU"):
        models.make(method, device="cuda")._validate_params()


def test_what_needs_torch_says_so_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    models.make("hierarchicalxc")._validate_params()
    for method, parameters in (("glas", {}), ("hierarchicalxc", {"encoder": "autoencoder"})):
        with pytest.raises(UsageError, match=r"labelspace\[deep\]"):
            models.make(method, **parameters)._validate_params()


def test_a_broken_torch_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise OSError("libtorch.so is missing")

    monkeypatch.setattr("importlib.import_module", fails)
    with pytest.raises(UsageError, match=r"fails \(libtorch.so is missing\): install"):
        require_torch("GLaS")
