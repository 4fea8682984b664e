"""The methods that every other has to beat."""
