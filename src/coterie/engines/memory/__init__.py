"""The engine that holds the whole table in memory."""
