"""Why rows are as coarse as they are, and what drives the loss."""
