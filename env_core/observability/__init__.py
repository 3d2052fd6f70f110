"""Telemetry as views over the cluster, never state."""
