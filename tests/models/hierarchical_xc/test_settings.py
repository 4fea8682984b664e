from __future__ import annotations

import pytest

from labelspace.models import HierarchicalXC
from labelspace.models.hierarchical_xc.settings import HierarchicalXCSettings
from labelspace.parameters import CorpusShape

# Srinivasan, Rao and Agarwal (2018), section 4: an auto-encoder and a binary tree whose nodes
# decide for none, one or both of their children; section 4.1: complete link with d = −|x in
# both|, leaves of one label. Nothing is said of scaling, of idf, or of weights that are cut.
#
# Three things are inferred, and are neither in the report nor in train_hierarchicalXC.py:
# - The width of codes. --input_ae_dim is −1 by default, "meaning no encoding is done". 256 on
#   bibtex and 125 on delicious are the widths of NeuralXC's codes of rows in its setups.
# - The optimiser. --optimizer_cfg is None by default, which the program refuses if rows are to be
#   encoded. Adam, its steps and its L2 term of 0.0001 are those of NeuralXC's setups.
# - Linear layers. "The use of the autoencoder is identical to that in NeuralXC", says the report,
#   and NeuralXC's is not linear; the program's own, GenericAutoencoder(input_dim, 0.5,
#   args.input_ae_dim), is, and "autoencoder" is that one.
REPORT = {
    "projection": "autoencoder",
    "decide": True,
    "likeness": "cooccurrence",
    "balanced": False,
    "leaf_size": 1,
    "normalize": False,
    "idf": False,
    "min_weight": 0.0,
}
INFERRED_L2 = {"l2": 1e-4}
BIBTEX, DELICIOUS = CorpusShape(4880, 1836, 159), CorpusShape(12920, 500, 983)


@pytest.mark.parametrize(("shape", "inferred_dim"), [(BIBTEX, 256), (DELICIOUS, 125)])
def test_the_paper_is_the_report_and_what_is_inferred_value_by_value(
    shape: CorpusShape, inferred_dim: int
) -> None:
    chosen = HierarchicalXCSettings.for_corpus("paper", shape)
    assert (REPORT | INFERRED_L2 | {"dim": inferred_dim}).items() <= vars(chosen).items()


def test_repaired_is_the_paper_without_the_l2_term() -> None:
    paper = vars(HierarchicalXCSettings.for_corpus("paper", BIBTEX))
    assert vars(HierarchicalXCSettings.for_corpus("repaired", BIBTEX)) == paper | {"l2": 0.0}


def test_every_setting_has_a_rule_and_the_constructor_few_parameters() -> None:
    assert HierarchicalXCSettings.rules.keys() == vars(HierarchicalXCSettings()).keys()
    assert len(HierarchicalXC().get_params()) <= 16
