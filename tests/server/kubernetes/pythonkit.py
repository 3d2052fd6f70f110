"""The official Python client with the kubeconfig of an episode, and what its tests make and read."""

from __future__ import annotations

import json

import pytest
import yaml
from kubernetes import client, config, watch

SECONDS_MAX = 30
LEAVES_SOCKETS = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.usefixtures("collected"),
]
"""For tests with WebSockets: the client's library leaves theirs to the collector."""


def connected(episode):
    return config.new_client_from_config_dict(yaml.safe_load(episode.kubeconfig().text))


def named(name, **more):
    return client.V1ObjectMeta(name=name, **more)


def config_map(name, **data):
    return client.V1ConfigMap(metadata=named(name), data=data)


def deployment(name, image="nginx:1.27", replicas=1):
    return client.V1Deployment(
        metadata=named(name, labels={"app": name}),
        spec=client.V1DeploymentSpec(
            replicas=replicas,
            selector=client.V1LabelSelector(match_labels={"app": name}),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels={"app": name}),
                spec=client.V1PodSpec(containers=[client.V1Container(name="c", image=image)]),
            ),
        ),
    )


def pod_of(core, app):
    return core.list_namespaced_pod("tron", label_selector=f"app={app}").items[0].metadata.name


def said(caught):
    """Return the code, and reason and message of the Status in the body."""
    body = json.loads(caught.value.body)
    return caught.value.status, body["reason"], body["message"]


def until(ask, is_so):
    """Watch the objects in the namespace default until one is so."""
    watching = watch.Watch()
    for event in watching.stream(ask, "default", timeout_seconds=SECONDS_MAX * 10):
        if is_so(event["object"]):
            watching.stop()
            return event["object"]
    raise AssertionError("it never was so")
