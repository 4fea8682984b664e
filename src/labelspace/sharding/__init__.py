"""Models whose labels lie in shards: each is held by a process or an actor of its own.

A model of one linear classifier per label can be larger than a machine's memory. Its labels are
cut into shards of equal non-zeros, each a folder of arrays that are mapped into memory. A row is
sent to all of them, and their best labels are merged into the best of all.
"""

from labelspace.sharding.split import write_shards

__all__ = ["write_shards"]
