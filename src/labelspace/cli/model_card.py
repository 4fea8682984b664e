"""What a model folder says of its model, without loading it: the card that ``info`` shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from labelspace import store
from labelspace.cli.evaluate import by_k
from labelspace.errors import LabelspaceError, ModelFileError
from labelspace.store import folders
from labelspace.store.folders import MANIFEST
from labelspace.store.manifest import plain_file
from labelspace.vocabulary import Vocabulary


def model_card(
    path: Path, with_files: bool = False, given: Vocabulary | None = None
) -> dict[str, Any]:
    """Return what the model in a folder is, what it learned from, and how right it was.

    Of a vocabulary that is ``given`` it also tells how many labels of the model are in it.
    """
    manifest = store.read_manifest(path)
    try:
        card = _card(manifest, path)
        names = manifest["label_names"]
        if given is not None:
            card["given_vocabulary"] = given.coverage(map(str, names or ()))
        json.dumps(card, allow_nan=False)
    except LabelspaceError:
        raise
    except Exception:  # numpy raises those of Python's own parser for the head of an array
        # Nothing but its checksum has been looked at, which whoever changed it has made anew.
        raise ModelFileError(
            f"{path / MANIFEST} does not say what a manifest says; train the model again."
        ) from None
    if with_files:
        card["files"] = [{"file": name, **about} for name, about in manifest["files"].items()]
    return {name: value for name, value in card.items() if value is not None}


def _card(manifest: dict[str, Any], path: Path) -> dict[str, Any]:
    names = manifest["label_names"]
    learned = _learned(manifest["model"])
    provenance = dict((learned.get("provenance_") or {}).get("$dict", ()))
    figures = dict((provenance.get("figures") or {}).get("$dict", ()))
    card = {
        "class": manifest["class"],
        "method": _method(manifest),
        "parameters": manifest["parameters"],
        **{key: provenance[key] for key in ("corpus", "trained", "train_seconds") if provenance},
        "n_examples": learned.get("n_examples_"),
        "n_features": learned.get("n_features_in_"),
        **_text_features(manifest["model"]),
        "n_labels": learned.get("_labels", {}).get("state", {}).get("n_labels"),
        "n_named_labels": 0 if names is None else len(names),
        **_vocabulary(learned, path),
        **_table(manifest["model"]),
        **_calibration(learned),
        "model_mib": round(folders.size_in_bytes(path) / (1 << 20), 2),
        "versions": manifest["versions"],
    }
    if figures:
        card |= {"held_out_corpus": provenance["valid"], "figures_on_it": by_k(figures)}
    return card


def _learned(model: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the estimator, which is the model itself or a tagger's part."""
    state = model["state"]
    return (state.get("estimator_") or {}).get("state", state)


def _method(manifest: dict[str, Any]) -> str:
    estimator = manifest["model"]["state"].get("estimator_") or {}
    return str(estimator.get("$object", manifest["class"]))


def _text_features(model: dict[str, Any]) -> dict[str, Any]:
    """Return how texts become features, where the model takes texts."""
    features = model["state"].get("features_")
    if not features:
        return {}
    state = features["state"]
    if features["$object"] == "HybridFeatures":
        words = _text_features({"state": {"features_": state["words"]}})
        return words | {"encoder": state["encoder"], "encoder_weight": state["weight"]}
    if features["$object"] != "TextFeatures":
        return {"text_features": state.get("factory") or state.get("kind")}
    told = ("ngrams", "char_ngrams", "min_df", "max_df", "max_features", "n_hashes")
    shown = {name: state[name] for name in told if state.get(name) is not None}
    shown |= {name: state[name] for name in ("stems", "lead") if state.get(name)}
    if "char_ngrams" in shown:
        pieces = shown["char_ngrams"]
        pieces = pieces["$tuple"] if isinstance(pieces, dict) else pieces
        shown["char_ngrams"] = "-".join(map(str, pieces))
    return {"text_features": shown}


def _vocabulary(learned: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return how many labels the vocabulary has, where there is one, and how many are in use."""
    vocabulary = learned.get("_labels", {}).get("state", {}).get("vocabulary")
    if not vocabulary:
        return {}
    file = plain_file(path, vocabulary["state"]["column_of"]["$array"])
    columns = np.load(file, mmap_mode="r", allow_pickle=False)
    return {"vocabulary": {"n_labels": len(columns), "n_used": int((columns >= 0).sum())}}


def _table(model: dict[str, Any]) -> dict[str, Any]:
    """Return which columns the model reads of a table, where it learned from one."""
    fields = (model["state"].get("fields_") or {}).get("state")
    if fields is None:
        return {}
    shown = {name: value for name, value in fields.items() if value not in (None, True)}
    shown.pop("is_separator_given", None)
    return {"table": shown | {"text": ", ".join(fields["text"]["$tuple"])}}


def _calibration(learned: dict[str, Any]) -> dict[str, Any]:
    """Return how far probabilities were off on rows held out, where the model knows."""
    measured = (learned.get("calibration_") or {}).get("state")
    if measured is None:
        return {}
    return {"calibration_error": measured["error"], "calibration_rows": measured["n_rows"]}
