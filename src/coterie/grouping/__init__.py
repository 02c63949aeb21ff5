"""What methods share: the indexes over rows and groups, the lower bound, local search, and promises beyond k."""
