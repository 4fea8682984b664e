"""What a tagger gives its estimator before it learns."""

from __future__ import annotations

import pytest

from labelspace import Tagger
from labelspace.errors import LabelspaceWarning, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.labels import LabelEncoder
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.models import DXML
from labelspace.tagger_setup import use_hierarchy
from labelspace.vocabulary import Entry, Vocabulary


def test_dxml_takes_its_hierarchy_from_the_vocabulary():
    labels = LabelEncoder()
    labels.learn([["rose", "plant"]])
    with pytest.raises(UsageError, match="no vocabulary with broader labels"):
        use_hierarchy(DXML(hierarchy="vocabulary"), LabelCatalog(labels))
    entries = [Entry("plant"), Entry("rose", broader=["plant"]), Entry("tulip", broader=["plant"])]
    labels.vocabulary = ModelVocabulary(Vocabulary(entries), labels.names)
    estimator = DXML(hierarchy="vocabulary")
    use_hierarchy(estimator, LabelCatalog(labels))
    plant, rose, tulip = 0, 1, 2  # the last is no label of a row
    edges = sorted(zip(*(ends.tolist() for ends in estimator.hierarchy.nonzero()), strict=True))
    assert edges == [(plant, rose), (plant, tulip), (rose, plant), (tulip, plant)]
    file = DXML(hierarchy="tree.tsv")
    use_hierarchy(file, LabelCatalog(labels))
    assert file.hierarchy == "tree.tsv"


def test_a_vocabulary_of_other_labels_is_said():
    with pytest.warns(LabelspaceWarning, match=r"None of the 1 labels, such as 'red', is a key"):
        Tagger("most-common").fit(["a ball"], [["red"]], vocabulary=Vocabulary([Entry("blue")]))
