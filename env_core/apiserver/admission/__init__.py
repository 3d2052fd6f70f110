"""Admission plugins, one per module, each with one constant `ADMISSION`; the server runs them in `order`."""
