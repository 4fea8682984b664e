"""The command line: ``labelspace train``, ``evaluate``, ``predict`` and the rest.

Nothing heavy is imported until a command runs, so that ``labelspace --help`` answers at once.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line (the ``labelspace`` script)."""
    from labelspace.cli.app import app

    app()
