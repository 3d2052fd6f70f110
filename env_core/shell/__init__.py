"""A small POSIX shell of our own: no subprocess, virtual time, bounded work."""
