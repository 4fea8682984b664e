"""SMCE: beside other ways to cluster and embed manifolds, and within AnnexML."""
