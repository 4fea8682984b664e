"""What cannot be learned is refused before a corpus is read."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from labelspace import models
from labelspace.errors import UsageError


@pytest.mark.parametrize("method", ["glas", "dxml", "neuralxc"])
@pytest.mark.parametrize("hidden", [[0], [-3], [2.5], ["wide"], [[4]], [True]])
def test_widths_that_are_none_are_refused(method: str, hidden: list[Any]) -> None:
    with pytest.raises(UsageError, match="hidden has a layer of width"):
        models.make(method, hidden=hidden)._validate_params()


@pytest.mark.parametrize("method", ["glas", "dxml", "neuralxc"])
def test_a_device_that_is_not_there_is_refused(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="no GPU"):
        models.make(method, device="cuda")._validate_params()


def test_an_encoder_that_needs_torch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    models.make("hierarchicalxc")._validate_params()
    with pytest.raises(UsageError, match=r"labelspace\[deep\]"):
        models.make("hierarchicalxc", encoder="autoencoder")._validate_params()
