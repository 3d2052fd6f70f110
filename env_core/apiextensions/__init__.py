"""Custom resources: definitions, their structural schemas, and the kinds that they add to an API server."""
