"""The kernel: time, order, chance, identity, and the trace of what happened."""
