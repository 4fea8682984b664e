"""Learning loops and their pieces: batches, steps, stopping."""
