"""The engine that groups blocks on the executors of a Spark cluster."""
