"""HierarchicalXC: a binary tree of labels, searched best first."""
