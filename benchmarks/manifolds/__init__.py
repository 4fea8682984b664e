"""SMCE beside other ways to cluster and embed manifolds: ``python -m benchmarks.manifolds``."""
