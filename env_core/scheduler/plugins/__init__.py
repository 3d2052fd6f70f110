"""Filters and scores, one per module, each with one constant `PLUGIN`."""
