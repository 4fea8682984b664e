"""Presets of the trees of rows: the values of the publications' programs, one by one."""

from __future__ import annotations

from labelspace.models.row_trees.settings import FastXMLSettings, LPSRSettings, PfastreXMLSettings
from labelspace.parameters import CorpusShape

DELICIOUS = CorpusShape(12920, 500, 983)


def test_paper_has_the_values_of_fastxml() -> None:
    # Prabhu and Varma (2014): the defaults of their program, as the section "Usage" of its page
    # has them (-t 50 -c 1.0 -m 10 -l 100), and its published source, which leaves rows as they
    # come and takes all rows of a node. The three last are ours: how long hyperplanes are learned.
    chosen = FastXMLSettings.for_corpus("paper", DELICIOUS)
    assert (chosen.n_trees, chosen.C, chosen.leaf_size, chosen.leaf_labels) == (50, 1.0, 10, 100)
    assert (chosen.idf, chosen.normalize) == (False, False)  # rows as they come
    assert chosen.split_rows >= DELICIOUS.n_examples  # hyperplanes of all rows of a node
    assert (chosen.tol, chosen.max_steps, chosen.max_passes) == (0.01, 10, 10)


def test_paper_has_the_values_of_pfastrexml() -> None:
    # Jain, Prabhu and Varma (2016), whose text could not be opened: the defaults of their program,
    # as the section "Usage" of its page has them (-t 50 -c 1.0 -m 10 -l 100 -g 30 -n 1000; A and B
    # as for most corpora; -a 0.8 for figures by propensity, and 0.9 for others), and its source.
    chosen = PfastreXMLSettings.for_corpus("paper", DELICIOUS)
    assert (chosen.n_trees, chosen.C, chosen.leaf_size, chosen.leaf_labels) == (50, 1.0, 10, 100)
    assert (chosen.A, chosen.B, chosen.alpha, chosen.gamma) == (0.55, 1.5, 0.8, 30.0)
    assert (chosen.idf, chosen.normalize) == (False, False)
    assert not chosen.unit_centroids  # its file "w" has the means of unit rows
    assert not chosen.growth.ndcg  # USE_IDCG is false
    assert chosen.n_reranked == 1000
    assert chosen.centroid_features == DELICIOUS.n_features  # all


def test_paper_has_one_division_of_the_rows_for_lpsr() -> None:
    # Weston, Makadia and Yee (2013), whose text could not be opened: one partition, weighted by the
    # scorer's precision, and labels by count are recalled, and no section is known to us.
    chosen = LPSRSettings.for_corpus("paper", DELICIOUS)
    assert vars(chosen) == {
        "n_trees": 1,  # one partition, labels chosen for each part
        "min_weight": 0.0,  # the scorer as it is
        # Left open: any scorer will do there, and sizes depend on the corpus. These are ours.
        "scorer": "one-vs-all",
        "C": 1.0,
        "smoothing": 1.0,
        "leaf_size": 100,
        "leaf_labels": 100,
        "normalize": True,
    }
