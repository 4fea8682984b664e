"""AnnexML: what each part is worth, how fast it is, how it scales."""
