"""The loops of the methods, a file or two each."""
