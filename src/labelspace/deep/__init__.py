"""The torch side of learning: the loop, optimisers of rows, sparse layers, sampling, history."""
