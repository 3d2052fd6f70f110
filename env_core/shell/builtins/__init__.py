"""Programs of the shell, one per module, each with one constant `BUILTIN`."""
