"""One file per corpus format, each a reader and a writer."""
