"""Whether labels that are alike lie side by side on the map."""
