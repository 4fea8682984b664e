from __future__ import annotations

import numpy as np

from labelspace.deep.label_sample import LabelSampler
from tests.planted import planted_corpus


def test_sample_has_all_labels_of_the_batch_and_marks_them():
    _, Y = planted_corpus(200, n_labels=60)
    sampler = LabelSampler(Y, 40)
    rows = np.array([3, 5, 8, 190])
    sample = sampler.draw(rows, np.random.default_rng(0))
    dense = Y[rows].toarray().astype(bool)
    assert np.array_equal(sample.relevant, dense[:, sample.labels])
    assert sample.relevant.sum() == dense.sum()
    assert sample.relevant[np.arange(4), sample.chosen].all()
    assert np.all(np.diff(sample.labels) > 0)


def test_weights_are_one_over_the_chance_to_be_sampled():
    _, Y = planted_corpus(200, n_labels=60)
    sampler, rng = LabelSampler(Y, 30), np.random.default_rng(0)
    counted = np.zeros(60)
    weighted = np.zeros(60)
    for _ in range(600):
        sample = sampler.draw(rng.choice(200, size=8, replace=False), rng)
        counted[sample.labels] += 1
        weighted[sample.labels] += sample.weights
    assert counted.min() > 100
    assert np.allclose(weighted / 600, 1.0, atol=0.25)
