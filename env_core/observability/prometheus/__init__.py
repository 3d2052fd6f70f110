"""Prometheus as its users see it: the HTTP API, rules and alerts, over series that are computed when asked for."""

from env_core.observability.prometheus._api import Answer, Api
from env_core.observability.prometheus._promtool import check_metrics, check_rules

__all__ = ["Answer", "Api", "check_metrics", "check_rules"]
