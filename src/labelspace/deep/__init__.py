"""The torch side of learning: the loop, optimisers of rows, sparse layers, sampling, history."""

import os

# torch's threads spin while they wait for each other. Where other programs run, the one waited for
# may have lost its core to one that spins: learning takes many times the processor time then. Read
# when torch is first imported; who has set it meant it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
