"""Autoscalers as autoscaling/v1 shows them: CPU utilization has a field, everything else is in annotations."""

from __future__ import annotations

from env_core.apiserver.kind import Conversion, Kind
from env_core.kinds._horizontalpodautoscaler_v1 import from_v1, to_v1

KIND = Kind(
    group="autoscaling",
    version="v1",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
    singular="horizontalpodautoscaler",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
    conversion=Conversion("horizontalpodautoscalers.autoscaling", from_v1, to_v1),
    source="k8s.io/api autoscaling/v1 HorizontalPodAutoscaler, 1.37; tests/golden/l2/defaults",
)
