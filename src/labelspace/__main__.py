"""``python -m labelspace`` is the command line."""

from labelspace.cli import main

main()
