"""Reports on a release: what they say as plain data, and the page that shows it."""
