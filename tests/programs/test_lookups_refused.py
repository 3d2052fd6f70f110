"""What services say when nothing listens at the name server's address."""

from env_core.scenarios.apps import base

SHOP = base("shop", 0)
SPACE = SHOP.namespaces[0]


def test_a_service_in_go_names_the_server_and_the_refusal():
    cluster = SHOP.cluster.fork()
    cluster.client().patch("deployments", "kube-system", "coredns", {"spec": {"replicas": 0}})
    cluster.advance(60_000)
    said = {
        line.text.partition(" on ")[2]
        for run in cluster.runtime.runs.values()
        for line in cluster.runtime.log_lines(
            run.container.pod_uid, run.container.name, run.container.restarts
        )
        if "lookup postgres" in line.text
    }
    assert said
    assert all(text.startswith("10.96.0.10:53: read udp 10.244.") for text in said)
    assert all("->10.96.0.10:53: read: connection refused" in text for text in said)
