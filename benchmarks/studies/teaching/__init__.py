"""What lessons of people are worth."""
