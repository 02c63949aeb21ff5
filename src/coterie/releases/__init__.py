"""What `anonymize` gives back, what is kept beside it, and later rows in its groups."""
