"""DXML: what each part is worth, appending, DeepWalk, and the paper beside it."""
