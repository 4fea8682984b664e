"""Texts made into features by other people's transformers, kept in a model folder without pickle.

scikit-learn's text vectorizers and what often follows them are stored as the plain data that they
hold. Anything else that has ``fit`` and ``transform`` is made by a function that is named by its
import path, ``"module:function"``: the model folder keeps the name, and what fitting added to it as
plain data. Loading calls the function only if it is listed as trusted, in ``Tagger.load(path,
trusted=[...])`` or in the environment variable ``LABELSPACE_TRUSTED`` (separated by commas).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelspace.data.text.features import TextFeatures, strings
from labelspace.data.text.sequences import WordSequences
from labelspace.data.text.stored_transformers import OWN_PATTERN, check_restored, checked_rows
from labelspace.errors import DataError, LabelspaceError, ModelFileError, UsageError
from labelspace.store import Storable, schema

# What is stored by its own name: plain data alone makes it again.
STORED_CLASSES = {
    "CountVectorizer": "sklearn.feature_extraction.text",
    "TfidfVectorizer": "sklearn.feature_extraction.text",
    "TfidfTransformer": "sklearn.feature_extraction.text",
    "HashingVectorizer": "sklearn.feature_extraction.text",
    "TruncatedSVD": "sklearn.decomposition",
    "MaxAbsScaler": "sklearn.preprocessing",
    "Normalizer": "sklearn.preprocessing",
    "StandardScaler": "sklearn.preprocessing",
    "FeatureUnion": "sklearn.pipeline",
    "Pipeline": "sklearn.pipeline",
}
TRUSTED_VARIABLE = "LABELSPACE_TRUSTED"
N_TRIED = 5  # texts that tell whether a transformer comes back as it was

_trusted: ContextVar[tuple[str, ...]] = ContextVar("_trusted", default=())


@contextmanager
def trusting(factories: Sequence[str]) -> Iterator[None]:
    """Let models that are loaded in the block call these functions, ``"module:function"`` each."""
    if isinstance(factories, str):
        factories = [factories]
    before = _trusted.set((*_trusted.get(), *factories))
    try:
        yield
    finally:
        _trusted.reset(before)


def features_for(features: Any, encoder: Any = None, *, sequences: bool = False) -> Any:
    """Return new text features as they were asked for; what cannot be stored is an error.

    With an ``encoder`` its vectors stand beside them. Unless ``features`` say otherwise, texts
    become weights of their words or, if ``sequences``, their words in order.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> features_for(CountVectorizer()).fit_transform(["red ball", "red"]).toarray()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    if encoder is not None:
        if (sequences and features is None) or isinstance(features, WordSequences):
            raise UsageError(
                "Words in their order have no place for an encoder's vectors: leave the encoder "
                "out, or give features=TextFeatures()."
            )
        from labelspace.data.text.encoding.hybrid_features import HybridFeatures

        return HybridFeatures(features_for(features), encoder)
    if features is None:
        return WordSequences() if sequences else TextFeatures()
    if isinstance(features, (TextFeatures, WordSequences)):
        return clone(features)
    if isinstance(features, str):
        return Transformer(_made_by(features), features)
    if not hasattr(features, "transform") or isinstance(features, type):
        raise UsageError(
            f"features is {_kind(features)}, which makes no features of texts: give TextFeatures, "
            "or an object that has scikit-learn's fit and transform."
        )
    made = Transformer(clone(features, safe=False))
    made._to_state()  # before anything is learned
    return made


class Transformer(Storable):
    """A transformer of scikit-learn's kind, as text features.

    Parameters
    ----------
    transformer : object
        Has ``transform`` and, unless it needs no training, ``fit``.
    factory : str, optional
        The function that makes it, ``"module:function"``.
    """

    # What a transformer holds only it can tell; no kernel of ours reads it.
    _schema: ClassVar[schema.Schema] = {
        "factory": schema.optional(schema.text),
        "kind": schema.optional(schema.text),
        "held": schema.anything,
    }

    def __init__(self, transformer: Any, factory: str | None = None) -> None:
        self.transformer = transformer
        self.factory = factory
        self._names: Any = None

    def fit_transform(self, texts: Iterable[str]) -> csr_matrix:
        """Learn from texts and return their rows, as float32 CSR."""
        texts = list(strings(texts))
        if not texts:
            raise DataError("There are no texts to learn from: give at least one.")
        if hasattr(self.transformer, "fit_transform"):
            rows = checked_rows(self.transformer.fit_transform(texts), len(texts))
        else:
            if hasattr(self.transformer, "fit"):
                self.transformer.fit(texts)
            rows = self.transform(texts)
        self._check_comes_back(texts[:N_TRIED])
        return rows

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """Return the rows of texts, as float32 CSR."""
        texts = list(strings(texts))
        try:
            if isinstance(self.transformer, BaseEstimator) and hasattr(self.transformer, "fit"):
                check_is_fitted(self.transformer)
            return checked_rows(self.transformer.transform(texts), len(texts))
        except LabelspaceError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            if self.factory is not None:  # somebody's own, who wants to see where it fails
                raise
            raise DataError(
                f"{_kind(self.transformer)} made no features of the texts "
                f"({' '.join(str(error).split())[:200]}): train the model again."
            ) from error

    def name_of(self, column: int) -> str:
        """Return the feature of one column, or its number."""
        if self._names is None and hasattr(self.transformer, "get_feature_names_out"):
            try:
                self._names = self.transformer.get_feature_names_out()
            except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                self._names = ()  # of a stranger's making
        if self._names is None or column >= len(self._names):
            return f"#{column}"
        return str(self._names[column])

    def _check_comes_back(self, texts: list[str]) -> None:
        """Raise if what would be stored does not give the same rows; before a long training."""
        before = _trusted.set((*_trusted.get(), self.factory or OWN_PATTERN))
        try:
            again = type(self)._from_state(self._to_state()).transform(texts)
        finally:
            _trusted.reset(before)
        here = self.transform(texts)
        if again.shape != here.shape or abs(again - here).max() > 1e-5:
            raise UsageError(
                f"{_kind(self.transformer)} keeps what it learns where a model folder cannot take "
                "it from: keep it in attributes that are numbers, strings, arrays, lists or dicts."
            )

    def _to_state(self) -> dict[str, Any]:
        if self.factory is None:
            name = type(self.transformer).__name__
            if type(self.transformer).__module__.partition(".")[0] != "sklearn":
                name = ""
            if name not in STORED_CLASSES:
                raise _not_storable(_kind(self.transformer))
            held = {key: _plain(v, f"{name}.{key}") for key, v in vars(self.transformer).items()}
            return {"factory": None, "kind": name, "held": held}
        fresh = _made_by(self.factory)
        return {"factory": self.factory, "kind": None, "held": _added(self.transformer, fresh)}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Transformer:
        factory, kind, held = state["factory"], state["kind"], state["held"]
        if factory is not None:
            check_trusted(factory)
            made = _made_by(factory)
            _put_back(made, held)
            return cls(made, factory)
        if kind not in STORED_CLASSES:
            raise ModelFileError(f"The model names the transformer {str(kind)[:80]!r}: none such.")
        found = getattr(importlib.import_module(STORED_CLASSES[kind]), kind)
        made = found.__new__(found)
        vars(made).update({key: _restored(value) for key, value in held.items()})
        if getattr(made, "input", "content") != "content":
            raise ModelFileError(f"The model's {kind} would read files that a text names.")
        check_restored(made, OWN_PATTERN in _all_trusted())
        return cls(made)


class FeaturesHolder(Storable):
    """What has ``features`` and an ``encoder``, which may be other people's, as parameters."""

    features: Any
    features_: Any
    encoder: Any = None

    def _to_state(self) -> dict[str, Any]:
        state = super()._to_state()
        if self.encoder is not None:
            state["encoder"] = self.features_.name
        if not isinstance(self.features, (TextFeatures, WordSequences, str, type(None))):
            state["features"] = Transformer(self.features)
        return state

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Any:
        made = super()._from_state(state)
        if isinstance(made.features, Transformer):
            made.features = made.features.transformer
        return made


def _made_by(factory: str) -> Any:
    """Return what a function that is named by its import path makes."""
    module, colon, name = factory.partition(":")
    if not colon or not module or not name:
        raise UsageError(
            f"features is '{factory}': give the function that makes them as 'module:function'."
        )
    try:
        made = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"Features are made by {factory}, which was not found ({error}): check the name, and "
            "that Python finds the module."
        ) from None
    if not hasattr(made, "transform"):
        raise UsageError(
            f"{factory} made {_kind(made)}, which has no transform: return an object that has "
            "scikit-learn's fit and transform."
        )
    return made


def check_trusted(factory: Any, does: str = "makes its features by calling") -> None:
    """Raise if what a model names, and loading would run, is not listed as trusted."""
    if factory not in _all_trusted():
        shown = str(factory)[:120]
        raise ModelFileError(
            f"The model {does} {shown}, which loading does not do unasked: "
            f"if you trust it, use Tagger.load(path, trusted=['{shown}']) or set "
            f"{TRUSTED_VARIABLE}={shown}."
        )


def _all_trusted() -> tuple[str, ...]:
    listed = os.environ.get(TRUSTED_VARIABLE, "").split(",")
    return (*_trusted.get(), *(name.strip() for name in listed))


def _plain(value: Any, name: str) -> Any:
    """Return a value as a model folder can keep it; refuse what it cannot."""
    if value is None or isinstance(value, (str, int, float, bool, np.generic)) or issparse(value):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"$dtype": np.dtype(value).str}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item, name) for item in value)
    if type(value) is dict:
        return {"$items": [[_plain(key, name), _plain(item, name)] for key, item in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted(_plain(item, name) for item in value)}
    if isinstance(value, BaseEstimator):
        Transformer(value)._to_state()
        return Transformer(value)
    raise _not_storable(f"{name}={_kind(value)}")


def _restored(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_restored(item) for item in value)
    if isinstance(value, Transformer):
        return value.transformer
    if not isinstance(value, dict):
        return value
    if "$dtype" in value:
        return np.dtype(value["$dtype"]).type
    if "$set" in value:
        return set(value["$set"])
    return {key: _restored(item) for key, item in value["$items"]}


def _added(transformer: Any, fresh: Any) -> dict[str, Any]:
    """Return what a transformer holds beyond what its factory gives it."""
    held: dict[str, Any] = {}
    for name, value in getattr(transformer, "__dict__", {}).items():
        try:
            held[name] = _plain(value, name)
        except UsageError:
            same = getattr(fresh, name, None)
            if type(same) is not type(value):
                raise _not_storable(
                    f"{type(transformer).__name__}.{name}", by_factory=True
                ) from None
            if isinstance(value, BaseEstimator):
                held[name] = {"$added": _added(value, same)}
    return held


def _put_back(transformer: Any, held: dict[str, Any]) -> None:
    for name, value in held.items():
        if isinstance(value, dict) and "$added" in value:
            _put_back(getattr(transformer, name), value["$added"])
        else:
            setattr(transformer, name, _restored(value))


def _not_storable(what: str, *, by_factory: bool = False) -> UsageError:
    way_out = (
        "let the function make it, or keep plain data and arrays instead"
        if by_factory
        else "write a function that makes the features and give its import path instead, such as "
        "features='my_package.features:make'"
    )
    return UsageError(f"{what} cannot be kept in a model folder, which has no pickle: {way_out}.")


def _kind(value: Any) -> str:
    kind = type(value)
    if callable(value) and hasattr(value, "__name__"):
        return f"the {kind.__name__} {value.__name__}"
    return f"a {kind.__name__}"
