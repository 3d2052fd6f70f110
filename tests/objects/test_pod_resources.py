"""A pod's requests, limits and class of service are the recorded ones."""

from __future__ import annotations

from env_core.objects import pod_resources
from tests.kinds import replayer


def test_requests_limits_and_class_match_every_record() -> None:
    pairs = [
        (
            record["id"],
            (
                pod_resources.pod_requests(record["spec"]),
                pod_resources.pod_limits(record["spec"]),
                pod_resources.pod_requests(record["spec"], has_overhead=False),
                pod_resources.qos_class(record["spec"]),
            ),
            (record["requests"], record["limits"], record["requestsExcludeOverhead"], record["qosClass"]),
        )
        for record in replayer.records("l0/pod_resources")
    ]
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 19, replayer.differences(pairs)


def test_a_sidecar_counts_beside_the_init_containers_after_it() -> None:
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "100m"}}}],
        "initContainers": [
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}},
            {"resources": {"requests": {"cpu": "200m"}}},
        ],
    }
    assert pod_resources.pod_requests(spec) == {"cpu": "250m"}
    assert pod_resources.container_requests({"containers": []}) == {}
