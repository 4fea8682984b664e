"""Model files: what can be kept in a folder, and how it gets there and back."""

from labelspace.store.loading import load
from labelspace.store.manifest import FORMAT, read_manifest
from labelspace.store.saving import save
from labelspace.store.storable import Storable, snapshot

__all__ = ["FORMAT", "Storable", "load", "read_manifest", "save", "snapshot"]
