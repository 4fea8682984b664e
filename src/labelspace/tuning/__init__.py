"""Choosing method, text features and parameters for a corpus, within a budget of time."""
