"""The facade: texts or features in, named labels out, whatever the method.

Command line and server go through a ``Tagger``. One that learned from texts holds the fitted text
features as well; one that learned from features is, and is stored as, its estimator.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelspace import metrics, progress, store, threads
from labelspace import tagger_setup as setup
from labelspace.base import LabelRanker
from labelspace.calibration import Threshold
from labelspace.composition import Composition
from labelspace.csr import NamedColumns
from labelspace.data.rows import count_rows, is_matrix, one_text, row_blocks
from labelspace.data.text.encoding.precomputed import NAME as PRECOMPUTED
from labelspace.data.text.encoding.precomputed import with_vectors
from labelspace.data.text.encoding.resolving import giving
from labelspace.data.text.excerpts import Excerpts, kept
from labelspace.data.text.features import TextFeatures
from labelspace.data.text.transformers import FeaturesHolder, features_for, trusting
from labelspace.errors import ModelFileError
from labelspace.explain import NamedExplainer, explains_by_examples
from labelspace.frames import given_labels, rows_of, tags_frame
from labelspace.label_catalog import LabelCatalog, Tag
from labelspace.label_holder import model_vocabulary
from labelspace.labels import LabelEncoder
from labelspace.responses import TaggerResponses
from labelspace.tagger_learning import LearningTagger
from labelspace.topk import TopK
from labelspace.vocabulary import Vocabulary

# Rows turned into features and ranked at a time: bounds memory, and lets progress be seen.
BLOCK = 4096
MOST_RANKED = 1 << 24  # labels at a time: all labels of many rows would not fit into memory


class Tagger(
    LearningTagger, TaggerResponses, NamedExplainer, FeaturesHolder, Composition, BaseEstimator
):
    """Tag texts, or rows of features, with labels learned from tagged ones.

    Parameters
    ----------
    method : str or estimator, optional
        Name of a method (see ``labelspace methods``) or an estimator of ``labelspace.models``;
        the default method if not given.
    features : TextFeatures, WordSequences, transformer or str, optional
        How texts become features: ``TextFeatures``, ``"auto"`` (chosen among a few of these on
        rows held out), a text vectorizer of scikit-learn (or a
        pipeline that begins with one), or ``"module:function"``, which makes anything that has
        scikit-learn's ``fit`` and ``transform`` (see ``labelspace.data.text.transformers``).
        Methods that read words in their order (``xml-cnn``) get ``WordSequences``.
    encoder : str or encoder, optional
        Whose vectors stand beside these features: ``"multilingual"`` (extra ``encoder``), a folder,
        ``"module:object"``, or an object with ``encode``, ``embed`` or ``transform``. The model
        keeps its name, not its weights.
    keep_texts : int, default=200
        Characters kept of each training text where the method explains its answers by examples,
        so that an explanation can show them; 0 keeps none.
    **parameters
        Parameters of the method, such as ``n_threads=1``. ``random_state`` is 0 unless given, so
        that the same texts give the same tagger.

    Attributes
    ----------
    estimator_ : LabelRanker
        The fitted method.
    features_ : TextFeatures, WordSequences, Transformer, HybridFeatures or None
        The fitted text features; None where it learned from features.
    excerpts_ : Excerpts, or None
        Beginnings of the training texts.
    labels_ : LabelEncoder
        The labels: their names, and the column of each.
    label_names_ : list of str, or None
        Names of the labels; None where they were given as numbers only.
    fields_ : Fields, or None
        Columns of the table that it learned from, by which the command line reads others.
    vocabulary_ : ModelVocabulary, or None
        The vocabulary that the labels are of, with those that no row has.

    Examples
    --------
    >>> texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    >>> labels = [["red", "round"], ["green", "round"], ["red"], ["green"]]
    >>> tagger = Tagger("most-common").fit(texts, labels)
    >>> [name for name, score in tagger.tag("a blue ball", k=2)]
    ['green', 'red']
    """

    fields_: Any = None
    _schema = setup.TAGGER_SCHEMA
    _parts = {"method": None, "features": TextFeatures, "encoder": None, "keep_texts": None}

    def __init__(
        self,
        method: str | LabelRanker | None = None,
        *,
        features: Any = None,
        encoder: Any = None,
        keep_texts: int = 200,
        **parameters: Any,
    ) -> None:
        self.method = method
        self.features = features
        self.encoder = encoder
        self.keep_texts = keep_texts
        self.parameters = parameters

    def fit(
        self,
        rows: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        *,
        vocabulary: Vocabulary | str | os.PathLike[str] | None = None,
        label_keys: Sequence[str] | None = None,
        embeddings: Any = None,
        allow: Iterable[int | str] | None = None,
        exclude: Iterable[int | str] = (),
    ) -> Tagger:
        """Learn from tagged texts or from tagged rows of features.

        Parameters
        ----------
        rows : iterable of str, matrix of shape (n_rows, n_features), or frame
            Texts are gone through once and need not be in memory. A matrix is sparse or a 2-d
            array; ``labelspace.NamedColumns`` gives names to its features. Of pandas, polars and
            pyarrow a column of texts does, a frame of texts (joined in their order) or of numbers.
        labels : list of lists of str, or one str per row
            Labels of each row. A 0-1 matrix, lists of column numbers, and a frame or column of
            these do as well.
        label_names : iterable of str, optional
            Names of the columns, where ``labels`` are a matrix or numbers.
        vocabulary : Vocabulary or path, optional
            Keys, names by language and broader labels of the labels, which go by key or by name.
        label_keys : sequence of str, optional
            Keys of the columns in the vocabulary, where their names do not tell.
        embeddings : array of shape (n_rows, dim), optional
            Vectors of the texts, where an encoder has made them already. Texts to be tagged come
            with theirs as ``labelspace.data.with_vectors(texts, vectors)``.
        allow, exclude : iterable of str or int, optional
            Labels to learn, where not all, and labels that are not learned: rules as for
            ``tag_many``. What is not learned is never given.
        """
        estimator, encoder = setup.new_estimator(self.method, self.parameters), LabelEncoder()
        Y: Any = encoder.learn(given_labels(labels, label_names))
        if vocabulary is not None:
            encoder.vocabulary = model_vocabulary(vocabulary, encoder, label_keys)
        setup.use_hierarchy(estimator, LabelCatalog(encoder))
        names = setup.label_names(estimator, encoder)
        Y, names = setup.restricted(Y, names, encoder, allow, exclude)
        rows = rows_of(rows)
        features = excerpts = None
        if not is_matrix(rows):
            encoder_used = self.encoder or (None if embeddings is None else PRECOMPUTED)
            wanted, rows = setup.wanted_features(self.features, rows, Y)
            features = features_for(wanted, encoder_used, sequences=estimator.reads_sequences)
            excerpts = Excerpts(self.keep_texts) if self.keep_texts > 0 else None
            texts = kept(with_vectors(rows, embeddings), excerpts)
            rows = setup.learn_features(features, texts, Y, estimator, names)
        more = setup.label_features(features, rows, names)
        estimator.fit(rows, Y if encoder.names is None else NamedColumns(Y, encoder.names), **more)
        estimator._labels = encoder  # it knows in which form labels came, so that answers have it
        self.estimator_, self.features_ = estimator, features
        shown = excerpts is not None and explains_by_examples(estimator, rows)
        self.excerpts_ = excerpts if shown else None
        return self

    def tag(
        self, text: str, k: int | None = None, threshold: Threshold = None, **shown: Any
    ) -> list[Tag]:
        """Return the ``k`` best labels of a text with their scores, best first.

        Each is a pair of name and score that has ``key`` and ``label`` (its column) as well. Fewer
        come back where the method finds fewer, or where ``threshold`` leaves some out. Both
        default to the method's own parameters (``k=5`` and no threshold); ``"f1"``,
        ``"precision=0.9"`` and ``"recall=0.8"`` are thresholds of methods that give probabilities.
        ``language``, ``broader``, ``allow``, ``exclude``, ``thresholds`` are as for ``tag_many``.
        """
        return self.tag_many([one_text(text)], k, threshold, **shown)[0]

    def tag_many(
        self,
        rows: Any,
        k: int | None = None,
        threshold: Threshold = None,
        as_frame: bool = False,
        *,
        language: str | None = None,
        broader: str = "keep",
        allow: Iterable[int | str] | None = None,
        exclude: Iterable[int | str] = (),
        thresholds: Mapping[Any, float] | None = None,
    ) -> Any:
        """Return what ``tag`` gives for each of many rows, which is much quicker at once.

        With ``as_frame`` it is a frame with a line for each label given: ``row`` (number from 0,
        or index in pandas), ``label``, ``score``, and ``key`` where the model has a vocabulary; of
        the package that ``rows`` come from. Names are in ``language`` where there is one in it.
        ``broader="hide"`` leaves out labels broader than another one given, and ``"add"`` gives
        all that are broader as well. Only labels in ``allow`` are given, where it is not None, and
        none in ``exclude``: keys, names or columns (a name that several have is an error), or
        rules such as ``"pattern:city *"``, ``"collection:places"`` and ``"below:plant"``.
        ``thresholds`` are least scores of single labels, in place of ``threshold``.
        """
        check_is_fitted(self, "estimator_")
        choice = self.choice(k, threshold, language, broader, allow, exclude, thresholds)
        tags = [
            [choice.catalog.tag(label, score, language) for label, score in choice.given(top, row)]
            for top in self.ranked(rows, choice.n_ranked)
            for row in range(len(top))
        ]
        return tags_frame(rows, tags, self.vocabulary_ is not None) if as_frame else tags

    def predict_topk(self, rows: Any, k: int | None = None) -> TopK:
        """Return the columns of the ``k`` best labels of each row with their scores."""
        check_is_fitted(self, "estimator_")
        rows = rows_of(rows)
        n_rows = count_rows(rows)
        doing = "Ranking labels" if n_rows is None else f"Ranking labels for {n_rows:,} rows"
        parts = []
        with progress.task(doing, n_rows) as advance:
            for part in self.ranked(rows, k):
                parts.append(part)
                advance(len(part))
        return TopK.stack(parts) if parts else TopK.empty(0, self.estimator_._asked(k))

    def ranked(self, rows: Any, k: int | None = None, block: int = BLOCK) -> Iterator[TopK]:
        """Yield what ``predict_topk`` gives, ``block`` rows at a time, as soon as they are read."""
        rows = rows_of(rows)
        if not is_matrix(rows):
            setup.check_takes_text(self.features_, self.estimator_)
        blocks = row_blocks(rows, max(1, min(block, MOST_RANKED // self.estimator_._asked(k))))
        return (self.estimator_.predict_topk(self.features_of(part), k) for part in blocks)

    def predict(self, rows: Any, k: int | None = None, threshold: Threshold = None) -> Any:
        """Return a 0-1 CSR matrix of the best labels, or classes if one per row was learned."""
        check_is_fitted(self, "estimator_")
        k, least = (1, None) if self.labels_.kind == "classes" else self.limits(k, threshold)
        return self.estimator_.chosen(self.predict_topk(rows, k), least)

    def score(self, rows: Any, labels: Any) -> float:
        """Return P@1: the share of rows (0 to 1) whose best label is right."""
        check_is_fitted(self, "estimator_")
        return self.evaluate(rows, labels, ks=(1,))["P@1"] / 100.0

    def evaluate(
        self,
        rows: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        *,
        ks: Sequence[int] = metrics.KS,
        **propensity: Any,
    ) -> dict[str, float]:
        """Return P@k, nDCG@k, PSP@k and PSnDCG@k on tagged rows, in percent.

        ``A`` and ``B`` are constants of the propensities (see ``labelspace.metrics``). Where
        scores are probabilities, ``ECE`` is their expected calibration error.
        """
        top = self.predict_topk(rows, max(ks))
        Y = self.labels_.encode(given_labels(labels, label_names), len(top))
        return setup.figures(self.estimator_, Y, top, ks=ks, **propensity)

    def features_of(self, rows: Any) -> csr_matrix:
        """Return rows as the estimator takes them: texts as their features, a matrix as it is."""
        rows = rows_of(rows)
        if is_matrix(rows):
            return rows
        setup.check_takes_text(self.features_, self.estimator_)
        assert self.features_ is not None
        with threads.limit(self.estimator_.n_threads):
            return self.features_.transform(rows)

    @property
    def takes_text(self) -> bool:
        """Whether it learned from texts; if not, it takes features only."""
        return self.features_ is not None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted tagger to the folder ``path``.

        One of features is written as its estimator, which holds all names already.
        """
        check_is_fitted(self, "estimator_")
        store.save(self if self.takes_text else self.estimator_, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], trusted: Sequence[str] = (), encoder: Any = None
    ) -> Tagger:
        """Read a tagger from the folder ``path``; an estimator there becomes one of features.

        ``trusted`` are functions, as ``"module:function"``, that the model may call to make its
        features, and encoders that it may use; no others are called. ``encoder`` is the one that
        it learned with, where that is not known by its name.
        """
        with trusting(trusted), giving(encoder):
            loaded = store.load(path)
        if encoder is not None:
            setup.check_encodes(loaded, path)
        estimator = getattr(loaded, "estimator_", loaded)
        if hasattr(estimator, "found_in"):  # it has parts beside the model's own files
            estimator.found_in(path)
        if isinstance(loaded, cls):
            return loaded
        if isinstance(loaded, LabelRanker):
            return cls.around(loaded)
        raise ModelFileError(
            f"{path} holds {type(loaded).__name__}, which ranks no labels: give a folder that "
            "'labelspace train' made."
        )

    @classmethod
    def around(cls, estimator: LabelRanker) -> Tagger:
        """Return a tagger of features around a fitted estimator."""
        made = cls(estimator)
        made.estimator_, made.features_, made.excerpts_ = estimator, None, None
        return made
