"""GLaS: rows and labels on one sphere, by a regularised network."""
