"""What each part of a method is worth: one parameter changed at a time."""
