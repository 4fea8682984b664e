"""A worker process: blocks come on stdin, what came of them goes to stdout.

The pipes are those of the process that started this one, and end with it.
"""

from __future__ import annotations

import os
import pickle
import sys

from labelspace.engine.blocks import Done, do_block
from labelspace.errors import EngineError, LabelspaceError


def main() -> None:
    """Do blocks until there are no more."""
    # What kernels or libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        came: Done | LabelspaceError
        try:
            came = do_block(job)
        except LabelspaceError as error:
            came = error
        except Exception as error:  # of whatever kind, which the other side may not know
            import traceback

            traceback.print_exc()
            came = EngineError(f"Block {job.number} failed: {type(error).__name__}: {error}")
        pickle.dump(came, answers)
        answers.flush()


if __name__ == "__main__":
    main()
