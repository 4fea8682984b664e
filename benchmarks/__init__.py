"""Measured figures for the documentation: every method and peer, same files, same metrics.

``python -m benchmarks run`` trains and tests (method × corpus × split × seed), each run in a
process of its own, and appends one JSON line per run to ``benchmarks/results``; ``python -m
benchmarks render`` writes the tables and plots of the documentation from those lines alone.
``python -m benchmarks study`` asks what the parts of a method are worth: ``benchmarks.studies``.

This package is imported by two interpreters: the project's own, and that of the peers, which has
neither numba nor ``labelspace``. ``worker``, ``jobs``, ``measure``, ``speed`` and ``subjects``
therefore need nothing but numpy and scipy.
"""
