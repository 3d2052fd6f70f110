"""The rules on small worlds of made-up names: each contradiction is found and repaired where it is declared."""

import json
import shlex
from pathlib import Path

import pytest

import kubedrill.policies
from kubedrill.models import ClusterSummary, KubeObservation
from kubedrill.policies._evidence import Edge, Evidence, host_and_port, namespace_of
from kubedrill.policies._repairs import repairs
from kubedrill.policies._running import Running
from kubedrill.policies.heuristic import HeuristicPolicy
from kubedrill.policies.scripted import ScriptedPolicy

DNS = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}


def deployment(name, port, *, config=None, env=(), replicas=1):
    labels = {"tier": name}
    container = {"name": "main", "ports": [{"containerPort": port, "name": "p"}], "env": list(env)}
    if config:
        container["envFrom"] = [{"configMapRef": {"name": config}}]
    return {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": {**labels, "release": "7"}}, "spec": {"containers": [container]}},
    }


def world(*, edges=(), **changes):
    objects = {
        ("Deployment", "shop"): deployment("shop", 3000, config="settings"),
        ("Deployment", "ledger"): deployment("ledger", 5432),
        ("Service", "shop"): {"selector": {"tier": "shop"}, "ports": [{"port": 80, "targetPort": 3000}]},
        ("Service", "ledger"): {"selector": {"tier": "ledger"}, "ports": [{"port": 5433, "targetPort": "p"}]},
        ("ConfigMap", "settings"): {"LEDGER_HOST": "ledger", "LEDGER_PORT": "5433", "MODE": "fast"},
        ("Ingress", "front"): {
            "rules": [{"host": "shop.example", "http": {"paths": [{"path": "/", "backend": {}}]}}]
        },
        ("NetworkPolicy", "base"): {
            "podSelector": {"matchLabels": {"tier": "ledger"}},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [{"podSelector": {"matchLabels": {"tier": "shop"}}}], "ports": [{"port": 5432}]}
            ],
        },
    }
    for key, value in changes.items():
        kind, name = key.split("__")
        objects[kind, name] = value
    lines = []
    for (kind, name), content in objects.items():
        spec, data = ("", json.dumps(content)) if kind == "ConfigMap" else (json.dumps(content), "")
        lines.append(f"{kind}\t{name}\t{spec}\t{data}\t")
    return Evidence.parsed("market", "\n".join(lines) + "\n", edges)


def only(evidence, brief=""):
    found = repairs(evidence, brief)
    assert len(found) == 1, found
    return found[0]


def patch_of(repair):
    words = shlex.split(repair.command)
    assert words[:3] == ["kubectl", "-n", "market"]
    return words[3:6], json.loads(words[words.index("-p") + 1])


def test_a_world_without_contradictions_needs_no_repair():
    assert repairs(world(), "http://shop.example/cart fails") == []


def test_a_service_that_selects_nothing_gets_the_stable_labels_of_its_workload():
    evidence = world(
        Service__ledger={"selector": {"tier": "ledger-v2"}, "ports": [{"port": 5433, "targetPort": "p"}]}
    )
    assert patch_of(only(evidence)) == (
        ["patch", "service", "ledger"],
        {"spec": {"selector": {"tier": "ledger"}}},
    )


def test_a_selector_with_a_key_that_nobody_has_is_replaced_whole():
    evidence = world(
        Service__ledger={"selector": {"role": "ledger"}, "ports": [{"port": 5433, "targetPort": "p"}]}
    )
    assert patch_of(only(evidence))[1] == {"spec": {"selector": {"role": None, "tier": "ledger"}}}


def image_of(spec, image):
    spec["template"]["spec"]["containers"][0]["image"] = image
    spec["template"]["metadata"]["labels"]["part"] = spec["selector"]["matchLabels"]["part"] = "market"
    return spec


def test_a_service_that_selects_pods_of_other_programs_is_narrowed_to_its_own():
    evidence = world(
        Deployment__shop=image_of(deployment("shop", 3000, config="settings"), "registry.example/shop:1"),
        Deployment__ledger=image_of(deployment("ledger", 5432), "registry.example/ledger:1"),
        Service__ledger={"selector": {"part": "market"}, "ports": [{"port": 5433, "targetPort": "p"}]},
    )
    assert patch_of(only(evidence))[1] == {"spec": {"selector": {"part": "market", "tier": "ledger"}}}


def test_two_releases_of_one_program_may_stand_behind_one_service():
    evidence = world(
        Deployment__ledger=image_of(deployment("ledger", 5432), "registry.example:5000/ledger:1"),
        Deployment__next=image_of(deployment("next", 5432), "registry.example:5000/ledger:2"),
        Service__ledger={"selector": {"part": "market"}, "ports": [{"port": 5433, "targetPort": "p"}]},
    )
    assert repairs(evidence, "") == []


@pytest.mark.parametrize("target", [5000, "q"])
def test_a_service_that_sends_to_a_port_that_its_pods_do_not_have_gets_theirs(target):
    service = {"selector": {"tier": "ledger"}, "ports": [{"port": 5433, "targetPort": target}]}
    patch = patch_of(only(world(Service__ledger=service)))[1]
    assert patch == [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 5432}]


@pytest.mark.parametrize("value", ["ledger-old", "legder", "ledger.elsewhere.svc", "db-primary"])
def test_a_setting_that_names_no_service_is_repaired_in_its_configmap_and_its_readers_are_restarted(value):
    evidence = world(ConfigMap__settings={"LEDGER_HOST": value, "LEDGER_PORT": "5433"})
    if "." in value:
        assert repairs(evidence, "") == []
        return
    repair = only(evidence)
    assert patch_of(repair) == (["patch", "configmap", "settings"], {"data": {"LEDGER_HOST": "ledger"}})
    assert repair.stale == ("shop",)


def test_a_wrong_host_inside_a_url_is_replaced_there():
    evidence = world(ConfigMap__settings={"LEDGER_URL": "postgres://app@ledgr:5433/books"})
    assert patch_of(only(evidence))[1] == {"data": {"LEDGER_URL": "postgres://app@ledger:5433/books"}}


def test_a_wrong_host_in_the_template_is_set_there():
    broken = deployment("shop", 3000, env=[{"name": "LEDGER_HOST", "value": "ledgr"}])
    assert (
        only(world(Deployment__shop=broken)).command
        == "kubectl -n market set env deployment/shop -c main LEDGER_HOST=ledger"
    )


def test_a_wrong_host_in_the_template_that_hides_a_right_one_is_taken_away():
    hiding = deployment("shop", 3000, config="settings", env=[{"name": "LEDGER_HOST", "value": "ledgr"}])
    assert (
        only(world(Deployment__shop=hiding)).command
        == "kubectl -n market set env deployment/shop -c main LEDGER_HOST-"
    )


@pytest.mark.parametrize(
    "host",
    [
        "ledger",
        "ledger.market",
        "ledger.market.svc",
        "ledger.market.svc.cluster.local",
        "10.0.0.7",
        "db.example.com",
        "localhost",
    ],
)
def test_a_host_that_exists_or_is_elsewhere_is_left_alone(host):
    assert repairs(world(ConfigMap__settings={"LEDGER_HOST": host, "LEDGER_PORT": "5433"}), "") == []


def test_a_policy_that_lets_nothing_out_is_opened_to_what_its_pods_need_and_to_dns():
    closed = {"podSelector": {"matchLabels": {"tier": "shop"}}, "policyTypes": ["Egress"]}
    target, patch = patch_of(only(world(NetworkPolicy__shut=closed)))
    assert target == ["patch", "networkpolicy", "shut"]
    peer = {
        "to": [{"podSelector": {"matchLabels": {"tier": "ledger"}}}],
        "ports": [{"protocol": "TCP", "port": 5432}],
    }
    assert patch == {"spec": {"egress": [peer, DNS]}}


def test_a_policy_that_lets_enough_out_is_left_alone():
    peer = {"to": [{"podSelector": {"matchLabels": {"tier": "ledger"}}}], "ports": [{"port": 5432}]}
    open_enough = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [peer, DNS]}
    assert repairs(world(NetworkPolicy__fine=open_enough), "") == []


def test_a_policy_that_shuts_out_a_reader_is_opened_to_it():
    closed = {"podSelector": {"matchLabels": {"tier": "ledger"}}, "policyTypes": ["Ingress"], "ingress": []}
    target, patch = patch_of(only(world(NetworkPolicy__base=closed)))
    assert target == ["patch", "networkpolicy", "base"]
    assert patch["spec"]["ingress"] == [
        {
            "from": [{"podSelector": {"matchLabels": {"tier": "shop"}}}],
            "ports": [{"protocol": "TCP", "port": 5432}],
        }
    ]


def led_to(service="shop", **path):
    backend = {"service": {"name": service, "port": {"number": 80}}}
    rules = [{"host": "shop.example", "http": {"paths": [{"path": "/", **path, "backend": backend}]}}]
    return {"rules": rules}


def test_a_policy_that_shuts_out_those_who_bring_requests_in_is_opened_to_them():
    edge = Edge("entry", {"role": "proxy"}, {"kubernetes.io/metadata.name": "entry", "zone": "front"})
    closed = {"podSelector": {"matchLabels": {"tier": "shop"}}, "policyTypes": ["Ingress"], "ingress": []}
    evidence = world(edges=(edge,), Ingress__front=led_to(), NetworkPolicy__shut=closed)
    target, patch = patch_of(only(evidence))
    assert target == ["patch", "networkpolicy", "shut"]
    spaces = {"matchLabels": {"kubernetes.io/metadata.name": "entry"}}
    peer = {"namespaceSelector": spaces, "podSelector": {"matchLabels": {"role": "proxy"}}}
    assert patch["spec"]["ingress"] == [{"from": [peer], "ports": [{"protocol": "TCP", "port": 3000}]}]
    by_zone = {"from": [{"namespaceSelector": {"matchLabels": {"zone": "front"}}}]}
    open_enough = {**closed, "ingress": [by_zone]}
    assert repairs(world(edges=(edge,), Ingress__front=led_to(), NetworkPolicy__shut=open_enough), "") == []


def test_two_causes_are_both_found():
    closed = {"podSelector": {"matchLabels": {"tier": "shop"}}, "policyTypes": ["Egress"]}
    wrong = {"LEDGER_HOST": "ledger-old", "LEDGER_PORT": "5433"}
    assert len(repairs(world(NetworkPolicy__shut=closed, ConfigMap__settings=wrong), "")) == 2


def test_a_workload_scaled_to_zero_behind_a_service_is_scaled_up():
    assert patch_of(only(world(Deployment__ledger=deployment("ledger", 5432, replicas=0))))[1] == {
        "spec": {"replicas": 1}
    }


def test_a_workload_gets_as_many_replicas_as_it_is_known_to_have_had():
    found = repairs(world(Deployment__ledger=deployment("ledger", 5432, replicas=0)), "", {"ledger": 3})
    assert [patch_of(repair)[1] for repair in found] == [{"spec": {"replicas": 3}}]


@pytest.mark.parametrize(
    ("ingress", "field", "value"),
    [
        (led_to(pathType="Exact"), "http/paths/0/pathType", "Prefix"),
        (led_to("shopp"), "http/paths/0/backend/service/name", "shop"),
        ({"rules": [{**led_to()["rules"][0], "host": "shop.exmple"}]}, "host", "shop.example"),
    ],
)
def test_an_ingress_rule_is_repaired_in_the_field_that_is_wrong(ingress, field, value):
    text = "http://shop.example/ http://shop.example/cart"
    patch = patch_of(only(world(Ingress__front=ingress), text))[1]
    assert patch == [{"op": "replace", "path": f"/spec/rules/0/{field}", "value": value}]


def test_of_several_paths_the_one_that_nobody_asks_for_is_meant():
    paths = [
        {"path": "/carts", "backend": {"service": {"name": "shop", "port": {"number": 80}}}},
        {"path": "/books", "backend": {"service": {"name": "ledger", "port": {"number": 5433}}}},
    ]
    ingress = {"rules": [{"host": "shop.example", "http": {"paths": paths}}]}
    text = "http://shop.example/cart/items http://shop.example/books"
    patch = patch_of(only(world(Ingress__front=ingress), text))[1]
    assert patch == [{"op": "replace", "path": "/spec/rules/0/http/paths/0/path", "value": "/cart"}]


def test_an_ingress_that_leads_no_path_of_the_page_is_repaired():
    wrong = {"rules": [{"host": "shop.example", "http": {"paths": [{"path": "/v1", "backend": {}}]}}]}
    target, patch = patch_of(
        only(world(Ingress__front=wrong), "Users see errors on http://shop.example/cart.")
    )
    assert target == ["patch", "ingress", "front"]
    assert patch == [{"op": "replace", "path": "/spec/rules/0/http/paths/0/path", "value": "/"}]


def test_an_ingress_that_leads_no_path_that_its_workload_answers_at_is_repaired():
    probed = deployment("shop", 3000, config="settings")
    probed["template"]["spec"]["containers"][0]["readinessProbe"] = {
        "httpGet": {"path": "/healthz", "port": 3000}
    }
    path = {"path": "/v1", "backend": {"service": {"name": "shop", "port": {"number": 80}}}}
    evidence = world(
        Deployment__shop=probed, Ingress__front={"rules": [{"host": "h", "http": {"paths": [path]}}]}
    )
    assert patch_of(only(evidence))[0] == ["patch", "ingress", "front"]


def test_the_namespace_is_where_the_pods_of_the_page_are():
    listing = "kube-system   coredns-1   1/1\nmarket   shop-1   1/1\nmarket   ledger-1   1/1\nother   shop-9   1/1\n"
    assert namespace_of(listing, ["shop-1", "ledger-1"]) == "market"
    assert namespace_of(listing, ["absent"]) == ""


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("db", ("db", None)),
        ("db:5432", ("db", 5432)),
        ("redis://:pw@db:6379/0", ("db", 6379)),
        ("http://[", ("", None)),
    ],
)
def test_a_value_is_split_into_host_and_port(value, parts):
    assert host_and_port(value) == parts


def test_a_line_that_was_cut_off_is_left_out():
    assert (
        Evidence.parsed("market", 'Service\tshop\t{"sel\n[... 9 characters truncated ...]\nx').services == {}
    )


def test_of_pods_all_is_kept_but_rubbish():
    containers = json.dumps(
        [{"name": "app", "ready": False, "restartCount": 3, "waiting": "CrashLoopBackOff", "reason": "Error"}]
    )
    meta = json.dumps({"labels": {"pod-template-hash": "1a2b"}, "owner": "shop-1a2b"})
    line = f"pod\tshop-1a2b-x\t{meta}\tRunning\t2026-01-05T09:00:00Z\t{containers}\t"
    (pod,) = Running.parsed(f"{line}\nrubbish\npod\tshop\t{{").of("shop")
    assert pod.is_unwell
    assert [(each.waiting, each.last_end, each.restarts) for each in pod.containers] == [
        ("CrashLoopBackOff", "Error", 3)
    ]


def test_the_policy_repairs_then_restarts_and_goes_on_looking_until_the_end():
    closed = {"podSelector": {"matchLabels": {"tier": "shop"}}, "policyTypes": ["Egress"]}
    evidence = {
        ("Service", "ledger"): {"selector": {"tier": "ledger"}, "ports": [{"port": 5433, "targetPort": "p"}]},
        ("Deployment", "shop"): deployment("shop", 3000, config="settings"),
        ("Deployment", "ledger"): deployment("ledger", 5432),
        ("NetworkPolicy", "shut"): closed,
    }
    listing = "\n".join(
        f"{kind}\t{name}\t{json.dumps(spec)}\tnull\t" for (kind, name), spec in evidence.items()
    )
    listing += '\nConfigMap\tsettings\tnull\t{"LEDGER_HOST":"ledgr","LEDGER_PORT":"5433"}\t\n'
    summary = ClusterSummary(
        pods="shop-1 1/1 Running", services="", deployments="shop 1/1; ledger 1/1", endpoints=""
    )
    policy = HeuristicPolicy()
    seen = KubeObservation(cluster_summary=summary)
    outputs = ("", "market shop-1 1/1 Running\n", listing, *[""] * 9)
    commands = [policy.act(seen.model_copy(update={"output": output})) for output in outputs]
    assert commands[0] == "kubectl get pods --all-namespaces --no-headers"
    assert [shlex.split(command)[3] for command in commands[1:6]] == [
        "get",
        "patch",
        "patch",
        "rollout",
        "get",
    ]
    assert commands[4] == "kubectl -n market rollout restart deployment shop"
    assert all(commands)


def test_no_policy_knows_a_name_of_any_suite():
    source = "".join(path.read_text() for path in Path(kubedrill.policies.__file__).parent.glob("*.py"))
    for name in ("tron", "nginx", "redis", "app-config", "bridge", "shadow", "canary"):
        assert name not in source.lower(), name


def test_a_plan_is_played_line_by_line():
    policy = ScriptedPolicy.from_plan("# first\nkubectl get pods\n\n  kubectl get svc  \n")
    seen = KubeObservation()
    assert [policy.act(seen) for _ in range(3)] == ["kubectl get pods", "kubectl get svc", None]
