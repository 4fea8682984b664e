"""AnnexML: votes of nearest rows and labels in a learned space."""
