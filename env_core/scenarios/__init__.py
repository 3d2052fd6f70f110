"""Base clusters: manifests that could be applied to a real one, and the loader that applies them."""
