"""Horizontal pod autoscalers over live pods, with a metrics server that is told what to say."""

import pytest

from tests.controllers.metrics_stub import MetricsStub
from tests.controllers.test_claims import Town

RESOURCE = "horizontalpodautoscalers.autoscaling"
PROXY = [{"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]


class Scaled(Town):
    """A Deployment with requests, and shortcuts for autoscalers."""

    def __init__(self, replicas=1):
        super().__init__()
        self.metrics = MetricsStub(self.world)
        self.world.server.metrics = self.metrics
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": PROXY}}
        self.deploy("web", replicas, template=template)
        self.world.advance(60_000)

    def use(self, cpu, memory="10Mi"):
        self.metrics.act("default", {"action": "usage", "prefix": "web", "cpu": cpu, "memory": memory})

    def autoscale(self, name="web", target="web", kind="Deployment", **spec):
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": target}
        metric = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
        body = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name},
            "spec": {
                "scaleTargetRef": reference,
                "minReplicas": 1,
                "maxReplicas": 10,
                "metrics": [{"type": "Resource", "resource": metric}],
                **spec,
            },
        }
        self.world.api.create(RESOURCE, "default", body)

    @property
    def replicas(self):
        return self.world.store.get("deployments.apps", "default", "web")["spec"]["replicas"]

    def status(self, name="web"):
        return self.world.store.get(RESOURCE, "default", name)["status"]

    def condition(self, type_, name="web"):
        found = next(each for each in self.status(name)["conditions"] if each["type"] == type_)
        return found["status"], found["reason"]

    def events(self):
        return {
            (event["reason"], event["message"])
            for event in self.world.store.list("events", "default")
            if event["involvedObject"]["kind"] == "HorizontalPodAutoscaler"
        }


def test_use_above_the_target_brings_replicas_at_once():
    town = Scaled()
    town.use("120m")
    town.autoscale()
    town.world.advance(1_000)
    assert town.replicas == 3
    reason = "New size: 3; reason: cpu resource utilization (percentage of request) above target"
    assert town.events() == {("SuccessfulRescale", reason)}
    assert town.condition("AbleToScale") == ("True", "SucceededRescale")
    current = town.status()["currentMetrics"][0]["resource"]["current"]
    assert current == {"averageUtilization": 120, "averageValue": "120m"}


def test_replicas_go_when_five_minutes_have_wanted_fewer():
    town = Scaled(replicas=4)
    town.use("5m")
    town.autoscale()
    town.world.advance(290_000)
    assert town.replicas == 4
    assert town.condition("AbleToScale") == ("True", "ScaleDownStabilized")
    town.world.advance(30_000)
    assert town.replicas == 1


@pytest.mark.parametrize(("cpu", "replicas"), [("54m", 2), ("46m", 2), ("56m", 3)])
def test_what_is_within_a_tenth_of_the_target_changes_nothing(cpu, replicas):
    town = Scaled(replicas=2)
    town.use(cpu)
    town.autoscale()
    town.world.advance(1_000)
    assert town.replicas == replicas


def test_a_policy_bounds_the_speed():
    town = Scaled()
    town.use("500m")
    policies = [{"type": "Pods", "value": 2, "periodSeconds": 60}]
    town.autoscale(behavior={"scaleUp": {"policies": policies}})
    town.world.advance(50_000)
    assert town.replicas == 3
    assert town.condition("ScalingLimited") == ("True", "ScaleUpLimit")
    town.world.advance(30_000)
    assert town.replicas == 5


def test_bounds_hold_without_metrics():
    town = Scaled(replicas=5)
    town.metrics.is_up = False
    town.autoscale(maxReplicas=3)
    town.world.advance(1_000)
    assert town.replicas == 3
    assert (
        "SuccessfulRescale",
        "New size: 3; reason: Current number of replicas above Spec.MaxReplicas",
    ) in town.events()
    town.world.advance(16_000)
    assert town.condition("ScalingActive") == ("False", "FailedGetResourceMetric")


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("Deployment", "ghost", 'deployments.apps "ghost" not found'),
        ("Widget", "web", 'no matches for kind "Widget" in group "apps"'),
    ],
)
def test_a_target_that_is_not_there_is_told(kind, name, text):
    town = Scaled()
    town.autoscale(kind=kind, target=name)
    town.world.advance(1_000)
    assert ("FailedGetScale", text) in town.events()
    assert town.condition("AbleToScale") == ("False", "FailedGetScale")


def test_nothing_is_scaled_from_zero():
    town = Scaled(replicas=0)
    town.autoscale()
    town.world.advance(40_000)
    assert town.replicas == 0
    assert town.condition("ScalingActive") == ("False", "ScalingDisabled")


def test_of_several_metrics_the_greatest_demand_counts_but_missing_ones_keep_replicas():
    town = Scaled(replicas=2)
    town.use("5m", "300Mi")
    memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}
    queue = {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}
    metrics = [{"type": "Resource", "resource": memory}, {"type": "External", "external": queue}]
    town.autoscale(metrics=metrics)
    town.world.advance(1_000)
    assert town.replicas == 4  # of six: no more than twice as many, or four, at once
    town.use("5m", "10Mi")
    town.world.advance(400_000)
    assert town.replicas == 4
    assert town.status()["currentMetrics"][1] == {"type": ""}
    assert town.condition("ScalingActive") == ("False", "FailedGetExternalMetric")


def test_a_world_without_autoscalers_is_never_looked_at():
    town = Scaled()
    before = town.world.reconciles
    town.world.advance(600_000)
    town.autoscale()
    town.world.advance(100)
    town.world.api.delete(RESOURCE, "default", "web")
    town.world.advance(60_000)
    settled = town.world.reconciles
    town.world.advance(600_000)
    assert settled > before
    assert not any(town.world.components["horizontal-pod-autoscaler"].table(name) for name in ("due", "past"))
