"""LabelSpace: what each part is worth, what its probabilities are worth, how it scales."""
