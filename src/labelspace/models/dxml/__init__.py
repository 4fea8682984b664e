"""DXML: votes of nearest rows where walks on the label graph put them."""
