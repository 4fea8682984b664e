"""Rows and labels in one space by a ranking loss (WSABIE)."""
