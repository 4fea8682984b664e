"""HierarchicalXC: the report beside it, what each part is worth, and its trees."""
