"""NeuralXC: what each part is worth, and the figures of the report."""
