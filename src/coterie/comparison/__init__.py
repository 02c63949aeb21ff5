"""Methods, k and promises side by side on one table."""
