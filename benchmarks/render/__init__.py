"""Tables and plots out of the JSON lines, for any page of the documentation."""
