"""A served model in shards: while one is lost, a refusal or an answer that says what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from fastapi.testclient import TestClient

import labelspace.sharding.ranker as ranker
from labelspace import Tagger
from labelspace.server.app import make_app
from labelspace.server.settings import ServerSettings
from labelspace.sharding import write_shards

ASKED = {"text": "a red ball", "k": 4}


class LostLater:
    """A shard that answers until it is lost."""

    is_lost = False

    def __init__(self, shard: ranker.ShardHolder) -> None:
        self._shard = shard

    def search(self, Z: Any, k: int) -> Any:
        if self.is_lost:
            raise ranker.ShardLost("gone")
        return self._shard.search(Z, k)

    def close(self) -> None: ...


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> list[LostLater]:
    """The second shard of each model that is loaded."""
    opened, made = ranker.opened, []

    def opens(holders: str, shards: list[ranker.Shard]) -> list[ranker.ShardHolder]:
        first, other = opened(holders, shards)
        made.append(LostLater(other))
        return [first, made[-1]]

    monkeypatch.setattr(ranker, "opened", opens)
    return made


@pytest.mark.filterwarnings("ignore:1 of 2 shards")
@pytest.mark.parametrize("missing", ["error", "partial"])
def test_a_lost_shard_is_a_503_or_named_in_the_answer(
    missing: str, second: list[LostLater], tmp_path: Path
) -> None:
    texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    tagger = Tagger("one-vs-all").fit(texts, [text.split()[1:] for text in texts])
    write_shards(tagger, tmp_path / "model", 2, holders="inside", missing=missing)
    app = make_app(ServerSettings(str(tmp_path / "model")))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        whole = client.post("/v1/tag", json=ASKED).json()
        assert len(whole["labels"]) == 4
        assert "missing_shards" not in whole
        for one in second:
            one.is_lost = True
        answer = client.post("/v1/tag", json=ASKED)
        if missing == "error":
            assert answer.status_code == 503
            assert "1 of 2 shards (1) did not answer" in answer.json()["error"]
        else:
            assert answer.json()["missing_shards"] == [1]
            assert 0 < len(answer.json()["labels"]) < 4
        for one in second:
            one.is_lost = False
        assert client.post("/v1/tag", json=ASKED).json() == whole
