"""Texts as dense vectors: any encoder behind one face, and its vectors beside the words."""
