"""Model files: what can be kept in a folder, and how it gets there and back."""

from labelspace.store.manifest import FORMAT, load, read_manifest, save
from labelspace.store.storable import Storable, snapshot

__all__ = ["FORMAT", "Storable", "load", "read_manifest", "save", "snapshot"]
