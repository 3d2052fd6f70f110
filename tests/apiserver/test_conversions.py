"""Resources in more than one form: both show the same objects, and converting there and back loses nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from env_core.kinds._event_conversion import from_events_v1, to_events_v1
from env_core.kinds._horizontalpodautoscaler_v1 import from_v1, to_v1
from tests.apiserver.asking import Asking
from tests.golden import servers

HPA = "horizontalpodautoscalers.autoscaling"
HPA_V1 = "horizontalpodautoscalers.v1.autoscaling"
EVENTS_V1 = "events.events.k8s.io"

word = st.text("abcdefgh", min_size=1, max_size=8)
share = st.integers(1, 500)
quantity = st.sampled_from(["100m", "1", "3Gi", "250k"])
selector = st.dictionaries(word, word, min_size=1, max_size=2).map(lambda labels: {"matchLabels": labels})
described = st.builds(lambda name: {"kind": "Service", "name": name, "apiVersion": "v1"}, word)


def target(key: str, kind: str, value: Any) -> Any:
    return {"type": kind, key: value}


average = quantity.map(lambda value: target("averageValue", "AverageValue", value))
plain = quantity.map(lambda value: target("value", "Value", value))
utilization = share.map(lambda value: target("averageUtilization", "Utilization", value))


@st.composite
def named(draw: Any) -> Any:
    made = {"name": draw(word)}
    chosen = draw(st.none() | selector)
    return made if chosen is None else {**made, "selector": chosen}


metrics = st.lists(
    st.one_of(
        st.builds(
            lambda name, to: {"type": "Resource", "resource": {"name": name, "target": to}},
            st.sampled_from(["memory", "storage"]),
            average | utilization,
        ),
        st.builds(
            lambda name, box, to: {
                "type": "ContainerResource",
                "containerResource": {"name": name, "container": box, "target": to},
            },
            st.sampled_from(["cpu", "memory"]),
            word,
            average | utilization,
        ),
        st.builds(
            lambda metric, to: {"type": "Pods", "pods": {"metric": metric, "target": to}}, named(), average
        ),
        st.builds(
            lambda metric, to: {"type": "External", "external": {"metric": metric, "target": to}},
            named(),
            average | plain,
        ),
        st.builds(
            lambda metric, to, what: {
                "type": "Object",
                "object": {"metric": metric, "target": to, "describedObject": what},
            },
            named(),
            average | plain,
            described,
        ),
    ),
    max_size=3,
)
policies = st.lists(
    st.builds(lambda value: {"type": "Pods", "value": value, "periodSeconds": 60}, share),
    min_size=1,
    max_size=2,
)
behavior = st.dictionaries(
    st.sampled_from(["scaleUp", "scaleDown"]),
    st.builds(lambda rules: {"selectPolicy": "Max", "policies": rules}, policies),
    min_size=1,
)


@st.composite
def autoscalers(draw: Any) -> Any:
    """Draw autoscaling/v2 objects in normal form; the CPU's share comes first, as v1 has it in a field."""
    wanted = draw(metrics)
    if draw(st.booleans()):
        cpu = {"type": "Resource", "resource": {"name": "cpu", "target": draw(utilization)}}
        wanted = [cpu, *wanted]
    spec: Any = {
        "scaleTargetRef": {"kind": "Deployment", "name": draw(word), "apiVersion": "apps/v1"},
        "maxReplicas": draw(share),
    }
    if wanted:
        spec["metrics"] = wanted
    if draw(st.booleans()):
        spec["behavior"] = draw(behavior)
    metadata: Any = {"name": draw(word), "namespace": "shop"}
    annotations = draw(st.dictionaries(word, word, max_size=2))
    if annotations:
        metadata["annotations"] = annotations
    status: Any = {"currentReplicas": draw(share), "desiredReplicas": draw(share)}
    conditions = draw(st.lists(st.builds(lambda kind: {"type": kind, "status": "True"}, word), max_size=2))
    if conditions:
        status["conditions"] = conditions
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


@given(autoscalers())
def test_an_autoscaler_survives_the_way_through_v1(obj: Any) -> None:
    shown = to_v1(obj)
    assert shown["apiVersion"] == "autoscaling/v1"
    assert "metrics" not in shown["spec"]
    assert from_v1(shown) == obj


@given(
    st.fixed_dictionaries(
        {
            "involvedObject": st.dictionaries(st.sampled_from(["kind", "name", "uid"]), word),
            "source": st.dictionaries(st.sampled_from(["component", "host"]), word),
            "firstTimestamp": st.none() | st.just("2026-01-01T00:00:00Z"),
            "lastTimestamp": st.none() | st.just("2026-01-01T00:00:00Z"),
            "eventTime": st.none() | st.just("2026-01-01T00:00:00.000000Z"),
            "reportingComponent": st.just("") | word,
            "reportingInstance": st.just("") | word,
        },
        optional={"reason": word, "message": word, "count": share, "type": word, "action": word},
    )
)
def test_an_event_survives_the_way_through_its_newer_form(fields: Any) -> None:
    obj = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, **fields}
    shown = to_events_v1(obj)
    assert shown["apiVersion"] == "events.k8s.io/v1"
    assert "involvedObject" not in shown
    assert from_events_v1(shown) == obj


def autoscaler(**spec: Any) -> Any:
    reference = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    return {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": reference, "maxReplicas": 5, **spec}}


def test_what_is_written_in_one_form_is_read_in_the_other() -> None:
    api = Asking(servers.server(is_booted=True))
    body = autoscaler(targetCPUUtilizationPercentage=70)
    made = api.create(HPA_V1, {**body, "apiVersion": "autoscaling/v1"}, "default")
    assert made["spec"]["targetCPUUtilizationPercentage"] == 70
    stored = api.get(HPA, "web", "default")
    assert stored["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 70
    assert stored["metadata"]["uid"] == made["metadata"]["uid"]

    api.ask("patch", HPA_V1, "web", "default", {"spec": {"targetCPUUtilizationPercentage": 30}})
    stored = api.get(HPA, "web", "default")
    assert stored["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 30

    memory = {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 40}}
    api.ask("patch", HPA, "web", "default", {"spec": {"metrics": [{"type": "Resource", "resource": memory}]}})
    shown = api.get(HPA_V1, "web", "default")
    assert "targetCPUUtilizationPercentage" not in shown["spec"]
    assert "autoscaling.alpha.kubernetes.io/metrics" in shown["metadata"]["annotations"]

    listed = api.ask("list", HPA_V1, "", "default").object
    assert (listed["apiVersion"], listed["kind"]) == ("autoscaling/v1", "HorizontalPodAutoscalerList")
    assert listed["items"] == [shown]
    api.done("delete", HPA_V1, "web", "default")
    assert api.names(HPA, "default") == []


def test_refusals_name_the_resource_not_the_form() -> None:
    api = Asking(servers.server(is_booted=True))
    expected = 'horizontalpodautoscalers.autoscaling "nope" not found'
    assert api.refusal("get", HPA_V1, "nope", "default") == (404, expected)


def test_events_are_selected_by_the_fields_of_their_form() -> None:
    api = Asking(servers.server(is_booted=True))
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default"},
        "reason": "Started",
        "type": "Normal",
    }
    api.create("events", event, "default")
    assert api.names(EVENTS_V1, "default", field_selector="regarding.name=web") == ["e"]
    assert api.names(EVENTS_V1, "default", field_selector="regarding.name=other") == []
    assert api.names("events", "default", field_selector="involvedObject.name=web") == ["e"]
    code, message = api.refusal("list", EVENTS_V1, "", "default", field_selector="involvedObject.name=web")
    assert (code, "field label not supported" in message) == (400, True)
