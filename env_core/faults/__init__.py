"""Fault families, one per module, each with one constant `FAMILY`; none yet."""
