"""The Hierarchies screen: see, build, import and edit."""
