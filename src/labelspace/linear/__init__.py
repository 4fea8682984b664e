"""Solvers of linear models: classifiers, regressions, and maps learned by contrast."""
