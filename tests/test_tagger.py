"""Text in, label names out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import labelspace
from labelspace import Tagger, progress, store
from labelspace.csr import NamedColumns
from labelspace.data.text.excerpts import Excerpts
from labelspace.data.text.features import TextFeatures
from labelspace.errors import DataError, ModelFileError, UsageError
from labelspace.labels import LabelEncoder
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.models import NearestNeighbors
from labelspace.vocabulary import Entry, Vocabulary

COLOURS = ["red", "green", "blue"]
SHAPES = ["ball", "cube", "cone"]
TEXTS = [f"a {colour} {shape} number{n}" for colour in COLOURS for shape in SHAPES for n in (1, 2)]
LABELS = [[colour, shape] for colour in COLOURS for shape in SHAPES for _ in (1, 2)]


def matrix_of(labels, names):
    return csr_matrix([[float(name in row) for name in names] for row in labels])


@pytest.fixture(params=[None, "one-vs-all", "knn"])
def tagger(request):
    return Tagger(request.param).fit(TEXTS, LABELS)


def test_tag_names_the_labels_of_a_text(tagger):
    tags = tagger.tag("One RED cone!", k=2)
    assert {name for name, _ in tags} == {"red", "cone"}
    assert all(type(name) is str and type(score) is float for name, score in tags)
    assert tags[0][1] >= tags[1][1]


def test_tag_many_gives_what_tag_gives(tagger):
    texts = ["red cone", "", "blue cube", "unheard of"]
    many = tagger.tag_many(iter(texts), k=3)
    assert len(many) == 4
    for text, tags in zip(texts, many, strict=True):
        one = tagger.tag(text, k=3)
        assert [name for name, _ in one] == [name for name, _ in tags]
        np.testing.assert_allclose([s for _, s in one], [s for _, s in tags], rtol=1e-5)
    assert tagger.tag_many([]) == []


def test_a_saved_tagger_gives_the_same_tags(tagger, tmp_path):
    tagger.save(tmp_path / "tagger")
    for loaded in (Tagger.load(tmp_path / "tagger"), labelspace.load(tmp_path / "tagger")):
        assert loaded.tag_many(TEXTS, k=3) == tagger.tag_many(TEXTS, k=3)
        assert loaded.label_names_ == tagger.label_names_
        assert loaded.get_params(deep=False) == tagger.get_params(deep=False)
    assert store.read_manifest(tmp_path / "tagger")["label_names"] == sorted(COLOURS + SHAPES)


def test_predict_topk_gives_columns_of_label_names(tagger):
    top = tagger.predict_topk(["a green ball"], k=2)
    assert {tagger.label_names_[label] for label in top.labels[0]} == {"green", "ball"}
    assert tagger.predict_topk([], k=2).labels.shape == (0, 2)


def test_predict_gives_a_matrix(tagger):
    Y = tagger.predict(["a green ball", "a blue cube"], k=2)
    assert Y.shape == (2, 6)
    assert Y.sum() == 4


def test_k_beyond_the_labels_gives_what_there_is():
    assert len(Tagger("most-common").fit(TEXTS, LABELS).tag("red", k=50)) == 6


def test_threshold_leaves_labels_out():
    tagger = Tagger("knn").fit(TEXTS, LABELS)
    tags = tagger.tag("red cone", k=6)
    lowest = tags[1][1]
    assert tagger.tag("red cone", k=6, threshold=lowest) == tags[:2]
    lasting = Tagger("knn", threshold=lowest).fit(TEXTS, LABELS)
    assert lasting.tag("red cone", k=6) == tags[:2]


def test_one_label_for_each_text():
    tagger = Tagger("knn").fit(TEXTS, [row[0] for row in LABELS])
    assert tagger.label_names_ == sorted(COLOURS)
    assert tagger.tag("a blue cube", k=1)[0][0] == "blue"
    assert tagger.score(TEXTS, [row[0] for row in LABELS]) == 1.0


def test_a_matrix_with_names_is_the_same_as_names():
    names = sorted(COLOURS + SHAPES)
    by_matrix = Tagger("knn").fit(TEXTS, matrix_of(LABELS, names), label_names=names)
    assert by_matrix.tag_many(TEXTS) == Tagger("knn").fit(TEXTS, LABELS).tag_many(TEXTS)


def test_names_given_beforehand_keep_their_order():
    names = ["unused", *sorted(COLOURS + SHAPES, reverse=True)]
    tagger = Tagger("most-common").fit(TEXTS, LABELS, label_names=names)
    assert tagger.label_names_ == names
    assert tagger.estimator_.label_counts_.tolist() == [0, 6, 6, 6, 6, 6, 6]


def test_numbered_labels_are_named_by_their_number():
    tagger = Tagger("most-common").fit(["one", "two"], [[0, 2], [2]])
    assert tagger.label_names_ is None
    assert [name for name, _ in tagger.tag("one", k=2)] == ["2", "0"]


def test_an_estimator_does_for_a_method():
    method = NearestNeighbors(n_neighbors=1)
    tagger = Tagger(method, k=2).fit(TEXTS, LABELS)
    assert len(tagger.tag("green cone")) == 2
    assert method.k == 5
    assert not hasattr(method, "_labels")


def test_parameters_reach_the_method():
    assert Tagger("knn", n_neighbors=3).fit(TEXTS, LABELS).estimator_.n_neighbors == 3


def test_features_can_be_chosen():
    tagger = Tagger("knn", features=TextFeatures(n_hashes=256)).fit(TEXTS, LABELS)
    assert tagger.features_.n_features_ == 256
    assert {name for name, _ in tagger.tag("blue ball", k=2)} == {"blue", "ball"}


def test_learning_on_takes_new_texts_and_labels(tmp_path):
    tagger = Tagger("knn").fit(TEXTS, LABELS)
    tagger.partial_fit(["a red ball, number1"] * 3, [["toy", "red"]] * 3)
    assert tagger.label_names_ == [*sorted(COLOURS + SHAPES), "toy"]
    assert "toy" in dict(tagger.tag("a red ball, number1", k=4))
    tagger.save(tmp_path / "tagger")
    again = Tagger.load(tmp_path / "tagger").partial_fit(["a green cone"], [["hat"]])
    assert again.label_names_[-2:] == ["toy", "hat"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("part", "function"),
    [
        (NearestNeighbors, "_partial_fit"),
        (NearestNeighbors, "_set_label_counts"),
        (LabelEncoder, "learn"),
        (ModelVocabulary, "extended"),
        (Excerpts, "extend"),
    ],
)
def test_what_fails_while_it_learns_on_leaves_the_tagger_as_it_was(
    part, function, when, tmp_path, monkeypatch
):
    texts, labels = ["a red ball", "a blue cube", "no green"], [["red"], ["blue"], ["red"]]
    known = Vocabulary([Entry(key) for key in ("red", "blue", "green")])
    tagger = Tagger("knn", n_neighbors=1).fit(texts, labels, vocabulary=known)
    tagger.save(tmp_path / "before")
    usual = getattr(part, function)

    def fail(self, *given):
        if when == "after":
            usual(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(part, function, fail)
    with pytest.raises(KeyboardInterrupt):
        tagger.partial_fit(["a green ball", "a ball"], [["green", "red"], ["red"]])
    tagger.save(tmp_path / "after")
    for file in (tmp_path / "before").iterdir():
        assert file.read_bytes() == (tmp_path / "after" / file.name).read_bytes(), file.name
    monkeypatch.undo()
    tagger.partial_fit(["a green ball"], [["green"]])
    assert tagger.tag("a green ball", k=1)[0].key == "green"
    assert tagger.explain("a green ball", k=1)[0].reasons[0].name == "a green ball"


def test_learning_on_by_matrix_takes_new_names_at_the_end():
    names = sorted(COLOURS + SHAPES)
    tagger = Tagger("knn").fit(TEXTS, matrix_of(LABELS, names), label_names=names)
    more = [*names, "toy"]
    tagger.partial_fit(["red ball"], matrix_of([["toy"]], more), label_names=more)
    assert tagger.label_names_ == more
    with pytest.raises(DataError, match="same order"):
        tagger.partial_fit(["red ball"], matrix_of([["toy"]], more), label_names=more[::-1])


def test_learning_on_from_nothing_is_fit():
    assert Tagger("knn").partial_fit(TEXTS, LABELS).tag("red cone", k=2)


def test_a_method_that_cannot_learn_on_says_so(monkeypatch):
    monkeypatch.setattr(
        "labelspace.tagger_setup.models.make", lambda name, **parameters: RankerOfOnes(**parameters)
    )
    tagger = Tagger("ones").fit(TEXTS, LABELS)
    with pytest.raises(UsageError, match="RankerOfOnes cannot learn on"):
        tagger.partial_fit(TEXTS, LABELS)
    with pytest.raises(UsageError, match="RankerOfOnes cannot explain"):
        tagger.explain("red")


class RankerOfOnes(labelspace.LabelRanker):
    def _fit(self, X, Y):
        self.labels_ = np.arange(Y.shape[1])

    def _predict_topk(self, X, k):
        shape = (X.shape[0], k)
        return labelspace.TopK(
            np.tile(self.labels_[:k], (shape[0], 1)), np.ones(shape, dtype=np.float32)
        )


def test_explain_names_labels_and_training_texts():
    tagger = Tagger("knn").fit(TEXTS, LABELS)
    why = tagger.explain("a blue cone", k=2)
    assert {reason.label for reason in why} == {"blue", "cone"}
    voters = [reason for reason in why[0].reasons if reason.kind == "example"]
    assert voters
    assert all(why[0].label in LABELS[reason.id] for reason in voters)
    assert all(reason.name == TEXTS[reason.id] for reason in voters)
    without = Tagger("knn", keep_texts=0).fit(TEXTS, LABELS).explain("a blue cone", k=1)[0]
    assert all(reason.name == str(reason.id) for reason in without.reasons)


def test_explain_names_words():
    tagger = Tagger("one-vs-all").fit(TEXTS, LABELS)
    by_label = {why.label: why for why in tagger.explain("a blue cone", k=2)}
    assert by_label["cone"].reasons[0].name == "cone"


@pytest.mark.parametrize(
    ("texts", "labels", "error", "message"),
    [
        ("one text", [["a"]], DataError, "single text"),
        ([None], [["a"]], DataError, "Text 0"),
        (["one", "two"], [["a"]], DataError, "2 texts but labels for 1"),
        (["one"], None, DataError, "labels"),
        ([""], [["a"]], DataError, "has a word"),
    ],
)
def test_bad_input_is_refused(texts, labels, error, message):
    with pytest.raises(error, match=message):
        Tagger("most-common").fit(texts, labels)


def test_too_few_names_are_refused():
    with pytest.raises(DataError, match="3 labels but 1 label names"):
        Tagger("most-common").fit(["one"], [[0, 2]], label_names=["a"])


def test_mistakes_in_names_are_met_before_the_texts_are_read():
    with pytest.raises(UsageError, match="did you mean 'knn'"):
        Tagger("knnn").fit([None], LABELS)
    with pytest.raises(UsageError, match="did you mean 'n_neighbors'"):
        Tagger("knn", n_neighbours=3).fit([None], LABELS)
    with pytest.raises(UsageError, match="no method"):
        Tagger(object()).fit(TEXTS, LABELS)


def test_a_failed_fit_leaves_the_tagger_as_it_was():
    tagger = Tagger("knn").fit(TEXTS, LABELS)
    before = tagger.tag_many(TEXTS)
    with pytest.raises(DataError):
        tagger.fit(["other words", None], [["new"], ["new"]])
    with pytest.raises(DataError):
        tagger.partial_fit(["red", None], [["new"], ["new"]])
    assert tagger.tag_many(TEXTS) == before


def test_tag_wants_one_text():
    tagger = Tagger("most-common").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="type list"):
        tagger.tag(["red"])
    with pytest.raises(DataError, match="single text"):
        tagger.tag_many("red")
    with pytest.raises(UsageError, match="k is 0"):
        tagger.tag("red", k=0)


def test_an_unfitted_tagger_says_so(tmp_path):
    for use in (
        lambda: Tagger().tag("red"),
        lambda: Tagger().explain("red"),
        lambda: Tagger().save(tmp_path / "tagger"),
    ):
        with pytest.raises(NotFittedError):
            use()


class TestOfFeatures:
    """Rows of features in, the same names out."""

    @pytest.fixture
    def by_text(self):
        return Tagger("knn").fit(TEXTS, LABELS)

    @pytest.fixture
    def by_features(self, by_text):
        words = by_text.features_.get_feature_names_out().tolist()
        return Tagger("knn").fit(NamedColumns(by_text.features_of(TEXTS), words), LABELS)

    def test_the_same_rows_get_the_same_tags(self, by_text, by_features):
        X = by_text.features_of(TEXTS)
        assert by_features.tag_many(X) == by_text.tag_many(TEXTS)
        assert by_features.tag_many(X.toarray()) == by_text.tag_many(TEXTS)
        assert by_features.score(X, LABELS) == by_text.score(TEXTS, LABELS)
        assert len(by_features.predict_topk(NamedColumns(X, ["unread"]))) == len(TEXTS)

    def test_text_is_refused_in_a_sentence(self, by_features):
        for use in (by_features.tag, by_features.explain, lambda text: by_features.ranked([text])):
            with pytest.raises(UsageError, match="trained on features, so it cannot take text"):
                use("a red ball")

    def test_reasons_have_the_names_of_features(self, by_text):
        words = by_text.features_.get_feature_names_out().tolist()
        X = by_text.features_of(TEXTS)
        tagger = Tagger("one-vs-all", random_state=0).fit(NamedColumns(X, words), LABELS)
        why = tagger.explain(by_text.features_of(["a blue cone"]), k=2)
        same = Tagger("one-vs-all", random_state=0).fit(TEXTS, LABELS)
        assert why == same.explain("a blue cone", k=2)
        assert {reason.name for each in why for reason in each.reasons} >= {"blue", "cone"}
        assert Tagger("one-vs-all").fit(X, LABELS).explain(X[0])[0].reasons[0].name.isdigit()

    def test_new_rows_may_have_new_labels(self, by_text, by_features):
        by_features.partial_fit(by_text.features_of(["a red ball"] * 3), [["toy"]] * 3)
        assert by_features.label_names_[-1] == "toy"
        assert "toy" in dict(by_features.tag_many(by_text.features_of(["a red ball"]))[0])

    def test_it_is_stored_as_an_estimator_that_knows_all_names(self, by_features, tmp_path):
        by_features.save(tmp_path / "model")
        estimator = labelspace.load(tmp_path / "model")
        assert isinstance(estimator, NearestNeighbors)
        assert estimator.classes_.tolist() == sorted(COLOURS + SHAPES)
        loaded = Tagger.load(tmp_path / "model")
        assert not loaded.takes_text
        assert loaded.label_names_ == by_features.label_names_
        assert loaded.feature_name(2) == by_features.feature_name(2)

    def test_names_of_features_are_one_for_each(self):
        with pytest.raises(DataError, match="2 features but 1 names"):
            Tagger("knn").fit(NamedColumns(np.eye(2), ["a"]), [["x"], ["y"]])


def test_load_refuses_what_ranks_no_labels(tmp_path):
    store.save(LabelEncoder(), tmp_path / "part")
    with pytest.raises(ModelFileError, match="holds LabelEncoder, which ranks no labels"):
        Tagger.load(tmp_path / "part")


def test_ranking_is_told_once_with_the_number_of_rows(tagger):
    class Told:
        def __init__(self):
            self.tasks, self.steps = [], 0

        def started(self, description, total):
            self.tasks.append((description, total))
            return 0

        def advanced(self, task, steps):
            self.steps += steps

        def finished(self, task):
            pass

    told = Told()
    with progress.listening(told):
        tagger.predict_topk(TEXTS)
    assert told.tasks == [("Ranking labels for 18 rows", 18)]
    assert told.steps == 18


def test_many_texts_are_ranked_a_block_at_a_time_as_they_are_read(tagger):
    read = []
    texts = (read.append(text) or text for text in TEXTS)
    blocks = tagger.ranked(texts, k=2, block=4)
    assert len(next(blocks)) == 4
    assert len(read) == 4
    assert [len(block) for block in blocks] == [4, 4, 4, 2]


def test_parameters_work_as_in_scikit_learn():
    tagger = Tagger("knn", n_neighbors=3).set_params(k=2, features__ngrams=2)
    copy = clone(tagger)
    assert copy.get_params()["n_neighbors"] == 3
    assert copy.get_params()["features__ngrams"] == 2
    assert "n_neighbors=3" in repr(copy)
    nested = clone(Tagger(NearestNeighbors())).set_params(method__n_neighbors=4)
    assert nested.method.n_neighbors == 4


def test_grid_search_over_texts():
    search = GridSearchCV(
        Tagger("knn"), {"n_neighbors": [1, 3], "features__ngrams": [1, 2]}, cv=2, n_jobs=1
    )
    order = np.random.default_rng(0).permutation(len(TEXTS))
    search.fit([TEXTS[at] for at in order], [LABELS[at] for at in order])
    assert search.best_score_ > 0.5
    assert search.best_estimator_.tag("red cone", k=1)


def test_a_method_that_cannot_explain_as_it_is_set_tags_all_the_same() -> None:
    texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    labels = [["red"], ["green"], ["red"], ["green"]]
    tagger = Tagger("hierarchicalxc", projection="random", dim=8, random_state=0).fit(texts, labels)
    assert tagger.excerpts_ is None
    assert tagger.tag("a red ring", k=1)[0][0] == "red"
    with pytest.raises(labelspace.UsageError, match="projection='none'"):
        tagger.explain("a red ring")
