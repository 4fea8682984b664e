"""Heavy work cut into blocks, done by threads, processes or a Ray cluster: the same bytes by all.

A block is a pure function of its inputs (the corpus, parameters, the seed) and its number. It is
written to one checksummed file in a folder that all workers see, and a block that is there is not
done again: retry, resumption after a crash and doing nothing twice are one mechanism.

    with labelspace.engine.using("processes", workdir="work", n_workers=4):
        model.fit(X, Y)

An engine is no parameter of an estimator, since a model's file must not tell who did the work.
"""

from labelspace.engine.context import blocks_of_equal_work, is_active, run_blocks, using

__all__ = ["blocks_of_equal_work", "is_active", "run_blocks", "using"]
