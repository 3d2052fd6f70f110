"""Command lines by grammar: what people and models type at kubectl, right and wrong, over the objects of a world.

The same seed gives the same lines. A template is a line with `{draws}` in it; those that stand alone may become several
words. Each world gets its share of all templates in turn, so that every template is used.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.golden.argv_files import files_of

Object = dict[str, Any]
TEMPLATES: tuple[str, ...] = tuple(
    line
    for line in Path(__file__).with_name("argv_templates.txt").read_text().splitlines()
    if line and not line.startswith("# ")
)
"""Every template."""
_VARIABLE = re.compile(r"[A-Z_]+=")
_DRAW = re.compile(r"\{(\w+)(?::(\w+))?\}")

FORMS: Mapping[str, tuple[str, ...]] = {
    "pods": ("pods", "pod", "po", "Pod", "pods.v1.", "PODS"),
    "deployments": ("deployments", "deployment", "deploy", "deployments.apps", "deployment.v1.apps", "Deployment"),
    "replicasets": ("replicasets", "rs", "replicaset.apps"),
    "statefulsets": ("statefulsets", "sts", "statefulset"),
    "daemonsets": ("daemonsets", "ds", "daemonset"),
    "jobs": ("jobs", "job", "job.batch"),
    "cronjobs": ("cronjobs", "cj", "cronjob"),
    "services": ("services", "svc", "service"),
    "endpoints": ("endpoints", "ep"),
    "endpointslices": ("endpointslices", "endpointslice"),
    "ingresses": ("ingresses", "ing", "ingress"),
    "networkpolicies": ("networkpolicies", "netpol", "networkpolicy"),
    "configmaps": ("configmaps", "cm", "configmap"),
    "secrets": ("secrets", "secret"),
    "serviceaccounts": ("serviceaccounts", "sa", "serviceaccount"),
    "persistentvolumeclaims": ("persistentvolumeclaims", "pvc"),
    "persistentvolumes": ("persistentvolumes", "pv"),
    "horizontalpodautoscalers": ("horizontalpodautoscalers", "hpa"),
    "poddisruptionbudgets": ("poddisruptionbudgets", "pdb"),
    "resourcequotas": ("resourcequotas", "quota"),
    "limitranges": ("limitranges", "limits"),
    "roles": ("roles", "role"),
    "rolebindings": ("rolebindings", "rolebinding"),
    "controllerrevisions": ("controllerrevisions",),
    "events": ("events", "ev", "event"),
    "nodes": ("nodes", "no", "node"),
    "namespaces": ("namespaces", "ns", "namespace"),
}
"""How people name the types that a world may have."""
MISSPELLED = (
    "pds", "podz", "deployement", "deploymnet", "service s", "ingres", "confgmap", "config-map", "config_maps", "crds.x",
    "nodes.metrics", "foo", "pods.apps", "deployments.v2.apps", "hpa.v9.autoscaling", "kustomization", "",
)  # fmt: skip
WORKLOADS = ("deployments", "statefulsets", "daemonsets", "replicasets")
CLUSTER_WIDE = ("nodes", "namespaces", "persistentvolumes")


@dataclass(frozen=True, slots=True)
class Line:
    """One command line, without "kubectl"; `template` says what it was made of."""

    argv: tuple[str, ...]
    stdin: str
    template: str
    env: tuple[tuple[str, str], ...] = ()
    """Variables that are set for the command only, written in front of it."""


@dataclass(slots=True)
class Draw:
    """The chances of one line, and what it has drawn already: a line names one pod and that pod's container."""

    rng: random.Random
    state: Mapping[str, Sequence[Object]]
    namespace: str
    files: Mapping[str, str]
    pod: Object | None = field(default=None)
    stdin: str = ""

    def words(self, name: str, detail: str) -> list[str]:
        """Return the words of a draw."""
        return _DRAWS[name](self, detail)

    def objects(self, plural: str) -> Sequence[Object]:
        """Return the objects of a type that the line's namespace has, or cluster-wide ones."""
        rows = self.state.get(plural, ())
        if plural in CLUSTER_WIDE:
            return rows
        return [row for row in rows if row["metadata"].get("namespace") == self.namespace]

    def name(self, plural: str) -> str:
        """Return the name of an object, "nope" where there is none."""
        rows = self.objects(plural)
        return str(self.rng.choice(rows)["metadata"]["name"]) if rows else "nope"

    def plural(self) -> str:
        """Return a type, one that the world has objects of four times out of five."""
        held = [plural for plural in FORMS if self.objects(plural)]
        return self.rng.choice(held if self.rng.random() < 0.8 else sorted(FORMS))

    def a_pod(self) -> Object | None:
        """Return the line's pod."""
        if self.pod is None:
            rows = self.objects("pods")
            self.pod = self.rng.choice(rows) if rows else None
        return self.pod


def _type(draw: Draw, detail: str) -> list[str]:
    return [draw.rng.choice(FORMS[detail or draw.plural()])]


def _object(draw: Draw, detail: str) -> list[str]:
    plural = detail or draw.plural()
    word, name = draw.rng.choice(FORMS[plural]), draw.name(plural)
    return [word, name] if draw.rng.random() < 0.3 else [f"{word}/{name}"]


def _slashed(draw: Draw, detail: str) -> list[str]:
    plural = detail or draw.plural()
    return [f"{draw.rng.choice(FORMS[plural])}/{draw.name(plural)}"]


def _pod(draw: Draw, _detail: str) -> list[str]:
    pod = draw.a_pod()
    return [pod["metadata"]["name"] if pod else "nope"]


def _container(draw: Draw, _detail: str) -> list[str]:
    pod = draw.a_pod()
    return [draw.rng.choice(pod["spec"]["containers"])["name"] if pod else "app"]


def _workload(draw: Draw, _detail: str) -> list[str]:
    held = [plural for plural in WORKLOADS if draw.objects(plural)] or ["deployments"]
    plural = draw.rng.choice(held)
    return [f"{draw.rng.choice(FORMS[plural])}/{draw.name(plural)}"]


def _workload_container(draw: Draw, _detail: str) -> list[str]:
    names = [
        one["name"]
        for plural in WORKLOADS
        for row in draw.objects(plural)
        for one in row["spec"]["template"]["spec"]["containers"]
    ]
    return [draw.rng.choice(names or ["app"])]


def _file(draw: Draw, detail: str) -> list[str]:
    wanted = [name for name in draw.files if name.startswith(detail) and "/" not in name]
    return [draw.rng.choice(wanted or ["missing.yaml"])]


def _stdin(draw: Draw, detail: str) -> list[str]:
    draw.stdin = draw.files[_file(draw, detail)[0]]
    return ["-"]


def _label(draw: Draw, _detail: str) -> list[str]:
    pairs = sorted(
        {
            f"{key}={value}"
            for rows in draw.state.values()
            for row in rows
            for key, value in (row["metadata"].get("labels") or {}).items()
        }
    )
    return [draw.rng.choice(pairs or ["app=web"])]


def _one_of(*values: str) -> Callable[[Draw, str], list[str]]:
    def drawn(draw: Draw, _detail: str) -> list[str]:
        return [draw.rng.choice(values)]

    return drawn


def _words_of(*values: str) -> Callable[[Draw, str], list[str]]:
    def drawn(draw: Draw, _detail: str) -> list[str]:
        return shlex.split(draw.rng.choice(values))

    return drawn


_DRAWS: Mapping[str, Callable[[Draw, str], list[str]]] = {
    "type": _type,
    "obj": _object,
    "slashed": _slashed,
    "pod": _pod,
    "container": _container,
    "workload": _workload,
    "template_container": _workload_container,
    "file": _file,
    "kustomization": _one_of("kz-new", "kz-new", "kz-own", "kz-own/", "./kz-own", "kz-wrong", "kz-empty", "kz-missing", "new-cm.yaml"),
    "bool": _one_of("true", "false", "warn"),
    "dry": _one_of("client", "server", "none"),
    "stdin": _stdin,
    "label": _label,
    "name": lambda draw, detail: [draw.name(detail or draw.plural())],
    "node": lambda draw, _detail: [draw.name("nodes")],
    "ns": lambda draw, _detail: [draw.rng.choice((draw.namespace, "default", "kube-system", "nope"))],
    "own": lambda draw, _detail: [draw.namespace],
    "wrong": _one_of(*MISSPELLED),
    "missing": _one_of("nope", "web-7", "Web", "does-not-exist", "x" * 64, "a_b", "web.", "-"),
    "image": _one_of("nginx:1.28", "redis", "ghcr.io/acme/api:v2", "nginx@sha256:" + "0" * 64, "Bad Image", ":x", ""),
    "number": _one_of("0", "1", "3", "12", "-1", "abc", "1.5", "3000000000"),
    # Without what does not fit into 32 bits: of that, the real one logs a stack with addresses.
    "port": _one_of("0", "80", "8080", "-1", "abc", "1.5", "70000"),
    "duration": _one_of("1s", "500ms", "0", "-1s", "abc", "1", "1h30m"),
    "selector": _one_of(
        "app=web", "app!=web", "app in (web,api)", "app notin (web)", "app", "!app", "app=web,tier=x", "app==web",
        "app=", "=web", "app in web", "app=a=b", "a b", "app=web,", "x/y/z=1", "app in ()", "app>3", "-app", "app=\u00e9",
    ),
    "fields": _one_of(
        "metadata.name=web", "status.phase=Running", "status.phase!=Running", "spec.nodeName=node-0",
        "metadata.namespace=default", "spec.foo=1", "status.phase", "status.phase=Running,spec.nodeName=node-1", "=x",
        "involvedObject.kind=Pod", "type=Warning", "reason=Scheduled", "spec.hostNetwork=false", "spec.unschedulable=true",
    ),
    "format": _words_of(
        "-o wide", "-o yaml", "-o json", "-o name", "-owide", "-oyaml", "-o=json", "--output yaml", "--output=wide",
        "-o yml", "-o YAML", "-o kyaml", "-o text", "-o", "-o ''", "-o table", "-o jsn", "--output=", "-o=yaml --show-managed-fields",
        "-o jsonpath={.metadata.name}", "-o jsonpath={.items[*].metadata.name}", "-o 'custom-columns=N:.metadata.name'",
    ),
    "path": _one_of(
        "{.metadata.name}", "{.items[*].metadata.name}", "{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "{.spec.replicas}",
        "{.items[0].metadata.labels.app}", "{.status.conditions[?(@.type==\"Ready\")].status}", "{..image}", "{.items[-1:].kind}",
        "{.metadata.annotations}", "{.items[*]['metadata.name','kind']}", "{.metadata.name", "{.items[}", "metadata.name", ".metadata.name",
        "{.metadata.nope}", "{.items[100].metadata.name}", "{range .items[*]}{.metadata.name}", "{end}", "{.status.containerStatuses[0].state}",
        "{.items[*].status.containerStatuses[*].restartCount}", "{.metadata.labels.app\\.kubernetes\\.io/name}", "{$}", "{@}", "{}", "{'literal'}",
        "{.items[?(@.status.phase!='Running')].metadata.name}", "{.items[?(@.spec.replicas>1)].metadata.name}", "{.a[?(@.b=)]}", "'{.kind}'",
    ),
    "gotemplate": _one_of(
        "{{.metadata.name}}", "{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}", "{{len .items}}", "{{.metadata.nope}}", "{{.x.y}}",
        "{{if .spec}}yes{{else}}no{{end}}", "{{range $i, $e := .items}}{{$i}}{{end}}", "{{printf \"%s\" .kind}}", "{{index .metadata.labels \"app\"}}",
        "{{.metadata.name", "{{end}}", "{{nope .kind}}", "{{.kind | len}}", "{{range .items}}", "{{.items.metadata}}", "{{. | base64decode}}",
        "{{range .items}}{{if eq .kind \"Pod\"}}{{.metadata.name}} {{end}}{{end}}", "{{exists . \"metadata\" \"name\"}}",
    ),
    "columns": _one_of(
        "NAME:.metadata.name", "NAME:.metadata.name,IMG:.spec.containers[*].image", "N:metadata.name", "N:{.metadata.name}", "NAME",
        "NAME:", ":.metadata.name", "A:.a.b.c,B:.kind", "NAME:.metadata.name,", "N:.metadata.labels", "N:.status.conditions[?(@.type=='Ready')].status",
    ),
    "sort": _one_of(
        ".metadata.name", ".metadata.creationTimestamp", "{.metadata.name}", "metadata.name", ".status.containerStatuses[0].restartCount",
        ".spec.nope", ".lastTimestamp", ".spec.replicas", "{", "", ".metadata.labels", ".status.startTime",
    ),
    "merge": _one_of(
        '{"metadata":{"labels":{"tier":"gold"}}}', '{"spec":{"replicas":4}}', '{"spec":{"replicas":"x"}}', '{"spec":{"nope":1}}', "{}", "[]", "{bad",
        '{"metadata":{"name":"other"}}', '{"spec":null}', "spec:\n  replicas: 2\n", '{"metadata":{"annotations":{"a":null}}}', "'x'", "", "null",
        '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.29"}]}}}}', '{"spec":{"selector":{"matchLabels":{"app":"x"}}}}',
        '{"data":{"k":"v"}}', '{"metadata":{"labels":{"bad key":"v"}}}', '{"spec":{"containers":[{"name":"web","image":"x"}]}}', '{"spec":{"type":"NodePort"}}',
    ),
    "jsonpatch": _one_of(
        '[{"op":"replace","path":"/spec/replicas","value":2}]', '[{"op":"add","path":"/metadata/labels/x","value":"y"}]', "[]", "{}", "[{bad",
        '[{"op":"remove","path":"/spec/nope"}]', '[{"op":"test","path":"/kind","value":"Nope"}]', '[{"op":"nope","path":"/kind"}]',
        '[{"op":"replace","path":"/metadata/name","value":"z"}]', '[{"op":"add","path":"metadata","value":1}]',
    ),
    "pair": _one_of("a=b", "a-", "a=", "=b", "a", "a b=c", "app=web", "x/y=z", "a=b c=d", "kubernetes.io/x=1", "A=\u00fc", "a=b=c", "app-"),
    "taint": _one_of("k=v:NoSchedule", "k:NoExecute", "k=v:Nope", "k-", "k:NoSchedule-", "k", "=v:NoSchedule", "k=v:PreferNoSchedule", "nope-"),
    "condition": _one_of(
        "condition=Ready", "condition=Available", "condition=Available=false", "condition=Nope", "delete", "create", "jsonpath={.kind}",
        "jsonpath={.status.phase}=Running", "jsonpath='{.status.replicas}'=2", "condition", "foo", "", "condition=Ready=", "jsonpath={.kind}=",
    ),
    "verb": _one_of("get", "list", "create", "delete", "*", "watch", "patch", "impersonate", "fly", "use"),
    "resource": _one_of("pods", "deployments.apps", "pods/log", "nodes", "*", "secrets/x", "foo", "svc", "/healthz", "deploy", "jobs.batch/status"),
    "user": _one_of("dev", "sre", "system:serviceaccount:default:default", "system:anonymous", "jane"),
    "verbosity": _words_of("-v 0", "--v=0", "-v x", "--vmodule=x=1", "--warnings-as-errors"),
}  # fmt: skip


def _line(template: str, draw: Draw) -> Line:
    words: list[str] = []
    for token in shlex.split(template):
        alone = _DRAW.fullmatch(token)
        if alone is not None and alone[1] in _DRAWS:
            words.extend(draw.words(alone[1], alone[2] or ""))
            continue
        words.append(
            _DRAW.sub(
                lambda found: (
                    " ".join(draw.words(found[1], found[2] or "")) if found[1] in _DRAWS else found[0]
                ),
                token,
            )
        )
    count = 0
    while count < len(words) and _VARIABLE.match(words[count]):
        count += 1
    pairs = tuple((name, value) for name, _, value in (word.partition("=") for word in words[:count]))
    return Line(tuple(words[count:]), draw.stdin, template, pairs)


def lines(
    state: Mapping[str, Sequence[Object]], namespace: str, *, seed: int, turn: int, count: int
) -> Iterator[Line]:
    """Yield the lines of one world.

    Args:
        state: its objects by plural.
        namespace: the current one.
        seed: of the whole set of lines.
        turn: which world of the set this is; each takes up the templates where the one before left off.
        count: how many lines.
    """
    order = list(TEMPLATES)
    random.Random(f"{seed} templates").shuffle(order)
    files = files_of(state, namespace)
    for index in range(count):
        template = order[(turn * count + index) % len(order)]
        rng = random.Random(f"{seed} {turn} {index}")
        yield _line(template, Draw(rng, state, namespace, files))
