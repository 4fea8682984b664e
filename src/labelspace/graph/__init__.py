"""What labels say about each other: graphs of rows and of labels."""
