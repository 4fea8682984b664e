"""NeuralXC: auto-encoders of rows and label sets, joined."""
