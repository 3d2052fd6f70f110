"""A cluster's metrics as series: state metrics, containers, nodes and applications, computed when asked for."""

from env_core.observability.series._sampling import SCRAPE_MS
from env_core.observability.series._source import ClusterSource

__all__ = ["SCRAPE_MS", "ClusterSource"]
