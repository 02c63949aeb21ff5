"""The loops that find the cheapest, nearest and furthest rows and groups."""
