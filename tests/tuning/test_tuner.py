"""Tuner from end to end, on rows whose labels have words of their own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import labelspace
from labelspace import Tagger, Tuner, models
from labelspace.data.text.encoding.hybrid_features import HybridFeatures
from labelspace.errors import DataError, UsageError
from labelspace.models.baselines.knn import NearestNeighbors
from labelspace.tuning.blend import Blend
from labelspace.tuning.choose import Choice, Chosen, Finalist
from labelspace.tuning.report import sentence, summary
from tests.data.text.encoding.fake_encoders import StaticModel
from tests.planted import planted_corpus

X, Y = planted_corpus(160)
METHODS = ["one-vs-all", "knn"]


def tuner(folder: Path | None = None, n_trials: int = 5, **options: object) -> Tuner:
    asked = {"methods": METHODS, "folder": folder, "n_trials": n_trials, "n_threads": 1}
    return Tuner("5m", **{**asked, **options})  # type: ignore[arg-type]


def leaderboard(tuned: Tuner) -> list[tuple[str, dict[str, float]]]:
    return [(str(one), one.figures) for one in tuned.ranking_]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Tuner:
    return tuner(tmp_path_factory.mktemp("tuned")).fit(X, Y)


def test_the_default_comes_first_and_others_follow(tuned: Tuner) -> None:
    names = [str(one.configuration) for one in tuned.outcomes_]
    assert names[:3] == ["labelspace", "one-vs-all", "knn"]
    assert len(names) == 5
    assert [one.n_rows for one in tuned.outcomes_] == [128] * 5


def test_the_choice_is_not_worse_than_the_default_on_the_rows_held_out(tuned: Tuner) -> None:
    assert tuned.default_ is not None
    assert tuned.chosen_.figures["P@5"] >= tuned.default_.figures["P@5"]
    assert tuned.chosen_ == tuned.ranking_[0]
    figures = [one.figures["P@5"] for one in tuned.ranking_]
    assert figures == sorted(figures, reverse=True)


def test_the_model_has_learned_from_all_rows_and_is_saved(tuned: Tuner) -> None:
    assert tuned.tagger_.estimator_.n_examples_ == len(Y.toarray())
    loaded = Tagger.load(Path(str(tuned.folder)) / "model")
    np.testing.assert_array_equal(
        loaded.predict_topk(X, 3).labels, tuned.tagger_.predict_topk(X, 3).labels
    )


def test_trials_are_the_same_again(tuned: Tuner) -> None:
    again = tuner().fit(X, Y)
    assert leaderboard(again) == leaderboard(tuned)
    assert str(again.chosen_) == str(tuned.chosen_)


def test_a_search_that_was_stopped_goes_on_to_the_same_leaderboard(
    tuned: Tuner, tmp_path: Path
) -> None:
    def stop(one: Tuner) -> None:
        if len(one.outcomes_) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuner(tmp_path).fit(X, Y, watch=stop)
    assert not (tmp_path / "model").exists()
    ran: list[int] = []
    resumed = tuner(tmp_path).fit(X, Y, watch=lambda one: ran.append(len(one.outcomes_)))
    assert ran == [3, 4, 5]  # what was written down is not done again
    assert leaderboard(resumed) == leaderboard(tuned)


def test_what_is_over_is_loaded_and_a_larger_budget_goes_on(tmp_path: Path) -> None:
    first = tuner(tmp_path, n_trials=2).fit(X, Y)
    ran: list[int] = []
    again = tuner(tmp_path, n_trials=3).fit(X, Y, watch=lambda one: ran.append(1))
    assert ran == []
    assert str(again.chosen_) == str(first.chosen_)
    assert again.chosen_.figures == first.chosen_.figures
    longer = tuner(tmp_path, n_trials=3)
    longer.budget = "6m"
    longer.fit(X, Y, watch=lambda one: ran.append(1))
    assert ran == [1]


def test_other_rows_or_options_are_refused(tuned: Tuner) -> None:
    folder = Path(str(tuned.folder))
    with pytest.raises(UsageError, match="another corpus"):
        tuner(folder).fit(X[:100], Y[:100])
    with pytest.raises(UsageError, match="other metric"):
        tuner(folder, metric="P@1").fit(X, Y)
    with pytest.raises(UsageError, match="other methods"):
        tuner(folder, methods=["knn"]).fit(X, Y)
    with pytest.raises(UsageError, match="other rows of it held out"):
        tuner(folder).fit(X, Y, held_out=[1, 2, 3])


def test_rows_that_are_held_out_can_be_given() -> None:
    held_out = np.arange(100, 160)
    one = tuner(n_trials=1).fit(X, Y, held_out=held_out)
    assert (one.n_learned_, one.n_held_out_) == (100, 60)
    fitted = models.make("labelspace", random_state=0, n_threads=1).fit(X[:100], Y[:100])
    # Rows are taken in their order, so that the trial is the training that anyone would do.
    expected = labelspace.metrics.scorer("P@5")(fitted, X[100:], Y[100:])
    assert one.default_ is not None
    assert one.default_.figures["P@5"] == pytest.approx(expected)


def test_a_budget_that_is_too_short_leaves_the_default_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("labelspace.tuning.halving.FEWEST_ROWS", 20)
    one = tuner()
    one.budget = 1e-6
    one.fit(X, Y)
    assert [outcome.n_rows for outcome in one.outcomes_] == [32]
    assert str(one.chosen_) == "labelspace"
    assert one.remark_ == sentence(one)
    assert "too short" in sentence(one)
    assert summary(one)["default_figures"] is None
    assert one.tagger_.estimator_.n_examples_ == 160


def test_time_for_the_last_training_is_kept_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that counts trainings: four minutes each, of ten."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    learn = labelspace.base.LabelRanker._learn

    def slow(self: object, *arguments: object, **more: object) -> object:
        now[0] += 240.0
        return learn(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(labelspace.base.LabelRanker, "_learn", slow)
    one = Tuner("10m", methods=METHODS, n_threads=1).fit(X, Y)
    assert len(one.outcomes_) == 1
    assert one.seconds_ == 480.0
    assert one.seconds_ <= 600.0


def test_a_trial_that_fails_is_written_down_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(NearestNeighbors, "_fit", fail)
    one = tuner(n_trials=3).fit(X, Y)
    failed = one.outcomes_[2]
    assert (str(failed.configuration), failed.figures) == ("knn", {})
    assert failed.error == "MemoryError"
    assert one.tagger_.estimator_.n_labels_ == Y.shape[1]


def test_text_features_are_chosen_and_kept() -> None:
    random = np.random.default_rng(0)
    stems = ["spline", "matrix", "kernel", "forest"]
    picked = random.integers(len(stems), size=120)
    # Words never come twice as they are, so that only pieces of them tell anything.
    texts = [
        f"un{stems[at]}{chr(97 + n % 26)}{chr(97 + n // 26)}ing" for n, at in enumerate(picked)
    ]
    labels = [[stems[at]] for at in picked]
    one = Tuner("5m", methods=["labelspace"], metric="P@1", n_trials=4, n_threads=1)
    one.fit(texts, labels)
    assert one.tagger_.features_.char_ngrams == (3, 5)
    assert one.tagger_.tag("unsplinezzing", k=1)[0].name == "spline"
    assert one.tagger_.labels_.kind == "lists"


def test_text_features_that_are_given_stay() -> None:
    texts, labels = ["a red ball", "a green cube"] * 20, [["red"], ["green"]] * 20
    features = labelspace.data.text.features.TextFeatures(ngrams=2)
    one = Tuner("5m", methods=["knn"], features=features, n_trials=3, n_threads=1)
    one.fit(texts, labels)
    assert one.tagger_.features_.ngrams == 2
    assert not any(outcome.configuration.features for outcome in one.outcomes_)


def test_vectors_of_an_encoder_stand_beside_the_words_in_all_trials() -> None:
    texts, labels = ["a red ball", "a green cube"] * 20, [["red"], ["green"]] * 20
    one = Tuner("5m", methods=["knn"], encoder=StaticModel(), n_trials=2, n_threads=1)
    one.fit(texts, labels)
    assert isinstance(one.tagger_.features_, HybridFeatures)
    assert one.tagger_.tag("my red ball", k=1)[0].name == "red"


def test_wrong_options_are_refused_before_anything_is_learned(tmp_path: Path) -> None:
    for options, what in (
        ({"budget": "soon"}, "no span of time"),
        ({"methods": ["knm"]}, "did you mean 'knn'"),
        ({"metric": "accuracy"}, "no figure 'accuracy'"),
        ({"folder": __file__}, "is a file"),
    ):
        with pytest.raises(UsageError, match=what):
            Tuner(**options).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="too few"):
        tuner().fit(X[:3], Y[:3])


def test_a_blend_that_was_chosen_is_trained_on_all_rows_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blends_first(self: Choice, finalists: list[Finalist], seconds: float = 0) -> list[Chosen]:
        found = [Chosen((one,), one.figures) for one in finalists]
        return [Chosen(tuple(finalists), finalists[0].figures), *found]

    monkeypatch.setattr(Choice, "ranking", blends_first)
    one = tuner(tmp_path, n_trials=3).fit(X, Y)
    assert str(one.chosen_) == "labelspace + one-vs-all + knn"
    assert sentence(one).startswith("A blend of labelspace + one-vs-all + knn: P@5")
    assert isinstance(one.tagger_.estimator_, Blend)
    assert [member.n_examples_ for member in one.tagger_.estimator_.members_] == [160] * 3
    loaded = Tagger.load(tmp_path / "model")
    top, again = one.tagger_.predict_topk(X, 4), loaded.predict_topk(X, 4)
    np.testing.assert_array_equal(top.labels, again.labels)
    np.testing.assert_array_equal(top.scores, again.scores)
    over = tuner(tmp_path, n_trials=3).fit(X, Y)
    assert str(over.chosen_) == str(one.chosen_)


def test_the_report_is_data_as_well(tuned: Tuner) -> None:
    told = json.loads(json.dumps(summary(tuned)))
    assert told["n_trials"] == 5
    assert told["chosen"][0]["method"] in (*METHODS, "labelspace")
    assert told["leaderboard"][0]["figures"]["P@5"] == told["figures"]["P@5"]


def test_trials_and_blends_go_by_names_as_the_default_does() -> None:
    words = ["amber", "bronze", "cobalt", "denim", "ebony", "fawn"]
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for _ in range(120):
        own = rng.choice(6, size=2, replace=False)
        texts.append(" ".join(words[at] for at in own) + f" thing{rng.integers(30)}")
        labels.append([words[at] for at in own])
    tuner = Tuner("30s", methods=["labelspace"], n_trials=1, random_state=0, n_threads=1)
    tuner.fit(texts, labels)
    assert tuner._trials.names is not None
    assert tuner._trials.names.texts == words
    model = tuner.tagger_.estimator_
    member = model.members_[0] if hasattr(model, "members_") else model
    assert member.names_ is not None
