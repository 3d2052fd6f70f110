"""A cluster's metrics as series: state metrics, containers, nodes and applications, computed when asked for."""

from env_core.observability.series._source import ClusterSource

__all__ = ["ClusterSource"]
