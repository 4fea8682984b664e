"""Random numbers for compiled loops: a state of 64 bits that is passed by value.

The state of a problem depends on its number, not on the thread that happens to solve it, so any
number of threads gives the same classifiers.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def seeded(seed, number, turn):
    """Return the state for a problem's turn."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    state ^= np.uint64(number + 1) * np.uint64(0xBF58476D1CE4E5B9)
    state ^= np.uint64(turn) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return state if state != 0 else np.uint64(88172645463325252)


@njit(cache=True, nogil=True)
def next_state(state):
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@njit(cache=True, nogil=True)
def below(state, end):
    """Return the number from 0 to ``end - 1`` that a state stands for."""
    return np.int64(((state >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def shuffle(order, size, state):
    """Shuffle the first ``size`` of ``order``; return the next state."""
    for last in range(size - 1, 0, -1):
        state = next_state(state)
        other = below(state, last + 1)
        order[last], order[other] = order[other], order[last]
    return state
