"""The functions that expressions may call: one module a library, each with its one `LIBRARY`."""
