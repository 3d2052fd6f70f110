"""Prometheus as its users see it: the HTTP API, rules and alerts, over series that are computed when asked for."""

from env_core.observability.prometheus._api import Answer, Api

__all__ = ["Answer", "Api"]
