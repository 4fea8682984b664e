"""One adapter per system under test; see ``benchmarks.subjects.subject`` for what each must do.

A peer's adapter imports the peer at its top and so is imported in the peers' environment only.
"""
