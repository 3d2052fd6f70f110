"""Verbs of kubectl, one per module (groups such as rollout are packages), each with one constant `VERB`."""
