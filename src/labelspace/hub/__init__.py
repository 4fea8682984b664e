"""Models from here to elsewhere and back: a folder, a store behind a URL, the Hugging Face hub."""

from labelspace.hub.transfer import pull, push

__all__ = ["pull", "push"]
