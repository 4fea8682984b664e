from __future__ import annotations

from labelspace.models import HierarchicalXC
from labelspace.models.hierarchical_xc.settings import HierarchicalXCSettings
from labelspace.parameters import CorpusShape

# Srinivasan, Rao and Agarwal (2018), section 4: an auto-encoder and a binary tree whose nodes
# decide for none, one or both of their children; section 4.1: complete link with d = −|x in
# both|, leaves of one label. The auto-encoder is "similar to that in NeuralXC", whose codes of
# bibtex' rows have 256 dimensions and those of delicious' 125 (the program's setups, which also
# have Adam's L2 term of 0.0001). Nothing is said of scaling, of idf, or of weights that are cut.
REPORT = {
    "projection": "autoencoder",
    "l2": 1e-4,
    "decide": True,
    "likeness": "cooccurrence",
    "balanced": False,
    "leaf_size": 1,
    "normalize": False,
    "idf": False,
    "min_weight": 0.0,
}


def test_the_paper_is_the_report_value_by_value() -> None:
    chosen = HierarchicalXCSettings.for_corpus("paper", CorpusShape(4880, 1836, 159))
    assert (REPORT | {"dim": 256}).items() <= vars(chosen).items()
    delicious = HierarchicalXCSettings.for_corpus("paper", CorpusShape(12920, 500, 983))
    assert (REPORT | {"dim": 125}).items() <= vars(delicious).items()


def test_repaired_is_the_paper_without_the_l2_term() -> None:
    shape = CorpusShape(4880, 1836, 159)
    paper = vars(HierarchicalXCSettings.for_corpus("paper", shape))
    assert vars(HierarchicalXCSettings.for_corpus("repaired", shape)) == paper | {"l2": 0.0}


def test_every_setting_has_a_rule_and_the_constructor_few_parameters() -> None:
    assert HierarchicalXCSettings.rules.keys() == vars(HierarchicalXCSettings()).keys()
    assert len(HierarchicalXC().get_params()) <= 16
