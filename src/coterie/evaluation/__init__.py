"""What a release is still good for: queries, learning, distributions, associations."""
