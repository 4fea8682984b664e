"""XML-CNN: convolutions over the words of a text."""
