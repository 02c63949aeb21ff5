"""Privacy models beyond k: what each promises of a group, decided from counts."""
