"""The scheduler: which node a pending pod goes to, and the words when there is none."""
