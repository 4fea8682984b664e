"""Maps from features to vectors."""
