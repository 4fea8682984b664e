"""GLaS: what each part is worth, how many dimensions labels need, what it costs."""
