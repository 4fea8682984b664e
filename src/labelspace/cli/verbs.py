"""Errors of any verb become one sentence and an exit code."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from typer.core import TyperGroup

from labelspace.errors import LabelspaceError, UsageError


class Verbs(TyperGroup):
    """Ends with 1 for bad input or data, 2 for wrong usage, 130 for Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        from labelspace.cli.output import say, told

        try:
            with told():
                return super().invoke(ctx)
        except UsageError as error:
            say(f"Error: {error}")
            sys.exit(2)
        except LabelspaceError as error:
            say(f"Error: {error}")
            sys.exit(1)
        except ValueError as error:
            if type(error).__module__.startswith("sklearn"):
                say(f"Error: {error}")  # a parameter out of its range
                sys.exit(2)
            raise
        except KeyboardInterrupt:
            say("Stopped by Ctrl-C: what was saved before stays as it is.")
            end_now(130)
        except BrokenPipeError:
            raise  # who read the output has had enough of it
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            say(f"Error: {where}{error.strerror or error}; check path, permissions and free space.")
            sys.exit(1)
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "memory" not in str(error):
                raise  # torch has no class of its own for a lack of memory
            say("Error: there is not enough memory for this; use a smaller corpus or method.")
            sys.exit(1)


def end_now(code: int) -> None:
    """End the process, without waiting for threads that are still at work."""
    others = [one for one in threading.enumerate() if one is not threading.main_thread()]
    if any(one.is_alive() and not one.daemon for one in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
