"""The first screen: projects, and how to start one."""
