"""An ingress rule is wrong: some ways in are not found, or are answered by somebody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._network import INGRESSES, patched
from env_core.faults._words import pass_time, restarted, waits
from env_core.programs import Request
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View
from env_core.world import Object

_WAITS_S: Final = (60, 240, 700)
_TIMEOUT_MS: Final = 3_000
_STRANGE_HOSTS: Final = ("unknown.example.com", "")
_STRANGE_PATH: Final = "/no/such/page"


class _At(NamedTuple):
    """Where a path stands in an Ingress."""

    ingress: Object
    rule: int
    path: int

    @property
    def host(self) -> str:
        found: str = self.ingress["spec"]["rules"][self.rule].get("host", "")
        return found

    @property
    def entry(self) -> Object:
        found: Object = self.ingress["spec"]["rules"][self.rule]["http"]["paths"][self.path]
        return found

    @property
    def name(self) -> str:
        found: str = self.ingress["metadata"]["name"]
        return found


def _all_at(base: Base, namespace: str) -> Iterator[_At]:
    for ingress in base.cluster.store.list(INGRESSES, namespace):
        for number, rule in enumerate(ingress["spec"].get("rules") or ()):
            for path in range(len(rule["http"]["paths"])):
                yield _At(ingress, number, path)


def _at(base: Base, place: Workload) -> _At | None:
    """Return the path that leads to a workload's Service, None where there is none."""
    return next(
        (
            found
            for found in _all_at(base, place.namespace)
            if place.service and found.entry["backend"]["service"]["name"] == place.service
        ),
        None,
    )


def _way(case: Case) -> _At:
    found = _at(case.base, case.place)
    assert found is not None
    return found


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role, place in base.workloads.items()
        if base.entries_through(role) and _at(base, place) is not None
    )


def _mistakes(base: Base, place: Workload) -> tuple[str, ...]:
    """Return the mistakes that would be noticed at a workload's path."""
    found = _at(base, place)
    assert found is not None
    kinds = ["host", "path"]
    if any(entry.path != found.entry["path"] for entry in _own_entries(base, place)):
        kinds.append("type")
    if len({other.entry["backend"]["service"]["name"] for other in _all_at(base, place.namespace)}) > 1:
        kinds.append("backend")
    return tuple(kinds)


def _own_entries(base: Base, place: Workload) -> list[Any]:
    return [entry for entry in base.entries if entry.through[:1] == (place.role,)]


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "what": stream.choice(_mistakes(base, place)),
        "turn": str(stream.below(3)),
        **waits(stream, _WAITS_S),
    }


def _wrong(case: Case) -> dict[str, str]:
    """Return the field that is wrong, and its value."""
    way, turn = _way(case), int(case.params["turn"])
    if case.params["what"] == "host":
        first, _, rest = way.host.partition(".")
        return {"host": (f"{first}s.{rest}", f"www-{way.host}", f"{first}.internal.{rest}")[turn]}
    if case.params["what"] == "path":
        path = way.entry["path"].rstrip("/")
        return {"path": (f"{path}/v1", f"{path}/app", f"/web{path}")[turn]}
    if case.params["what"] == "type":
        return {"pathType": "Exact"}
    others = [other.entry["backend"]["service"]["name"] for other in _all_at(case.base, case.namespace)]
    return {"backend": next(name for name in others if name != case.place.service)}


def _shown(case: Case) -> str:
    ((field, value),) = _wrong(case).items()
    return f'"{"name" if field == "backend" else field}":"{value}"'


def _rules(case: Case) -> list[Object]:
    """Return the Ingress's rules as they should be."""
    found: list[Object] = _way(case).ingress["spec"]["rules"]
    return found


def _wrong_rules(case: Case) -> list[Object]:
    way, ((field, value),) = _way(case), _wrong(case).items()
    rules: list[Object] = json.loads(json.dumps(_rules(case)))
    if field == "host":
        rules[way.rule]["host"] = value
    elif field == "backend":
        other = next(
            each.entry
            for each in _all_at(case.base, case.namespace)
            if each.entry["backend"]["service"]["name"] == value
        )
        rules[way.rule]["http"]["paths"][way.path]["backend"] = other["backend"]
    else:
        rules[way.rule]["http"]["paths"][way.path][field] = value
    return rules


def _inject(case: Case, cluster: Cluster) -> None:
    patch = {"spec": {"rules": _wrong_rules(case)}}
    cluster.client(COLLEAGUE).patch(INGRESSES, case.namespace, _way(case).name, patch)
    pass_time(cluster, case)


# What must hold


def _asked(case: Case) -> list[tuple[str, str]]:
    """Return hosts and paths to try: those that lead somewhere, what is below and beside them, and what nobody has."""
    found: list[tuple[str, str]] = []
    for way in _all_at(case.base, case.namespace):
        path = way.entry["path"]
        found += [(way.host, path), (way.host, f"{path.rstrip('/')}ish"), (way.host, _STRANGE_PATH)]
        if way.entry["pathType"] == "Prefix":
            found.append((way.host, f"{path.rstrip('/')}/more"))
        found += [(host, path) for host in _STRANGE_HOSTS]
    ((field, value),) = _wrong(case).items()
    if field == "host":
        found.append((value, _way(case).entry["path"]))
    return list(dict.fromkeys(found))


def _answer(view: View, host: str, path: str) -> tuple[int, str]:
    """Return the status of an answer, and who gave it."""
    reply = view.fork().network.request_ingress(Request(path=path, host=host, timeout_ms=_TIMEOUT_MS))
    return reply.status, reply.body.partition('"service":"')[2].partition('"')[0]


def paths_lead_where_they_led(case: Case) -> Check:
    """Every path of the application, known or not, is answered by whom it was answered, or not found as before."""
    healthy = View(case.base.cluster)

    def fails(view: View) -> str:
        for host, path in _asked(case):
            now, before = _answer(view, host, path), _answer(healthy, host, path)
            if now != before:
                return f"{path} of host {host or '(none)'} answers {now[0]} from {now[1] or 'nobody'}"
        return ""

    return Check("paths lead where they led", fails)


# Scripts


def _replaced(case: Case, rules: list[Object]) -> str:
    return patched(case, f"ingress/{_way(case).name}", {"spec": {"rules": rules}}, "merge")


def _split(case: Case) -> str:
    """Return the command line that gives every path a rule of its own."""
    rules = [
        {"host": rule.get("host", ""), "http": {"paths": [path]}}
        for rule in _rules(case)
        for path in rule["http"]["paths"]
    ]
    return _replaced(case, rules)


def _one_field(case: Case) -> str:
    """Return the command line that corrects what is wrong and touches nothing else."""
    way, (field,) = _way(case), _wrong(case)
    at = f"/spec/rules/{way.rule}"
    if field == "host":
        patch = [{"op": "replace", "path": f"{at}/host", "value": way.host}]
    else:
        patch = [{"op": "replace", "path": f"{at}/http/paths/{way.path}/{field}", "value": way.entry[field]}]
    return patched(case, f"ingress/{way.name}", patch, "json")


def _catch_all(case: Case) -> str:
    path = {"path": "/", "pathType": "Prefix", "backend": _way(case).entry["backend"]}
    rule = {"http": {"paths": [path]}}
    return patched(
        case, f"ingress/{_way(case).name}", [{"op": "add", "path": "/spec/rules/-", "value": rule}], "json"
    )


def _made_again(case: Case) -> tuple[str, ...]:
    way = _way(case)
    port = way.entry["backend"]["service"]["port"]
    return (
        f"kubectl -n {case.namespace} delete ingress {way.name}",
        f"kubectl -n {case.namespace} create ingress {way.name} --class=traefik "
        f"--rule={way.host}/*={case.place.service}:{port.get('name') or port.get('number')}",
    )


FAMILY = Family(
    id="NW-12",
    tier=1,
    summary="An ingress rule has the wrong host, path or backend.",
    partners=("NW-01", "NW-03", "IM-07"),
    source="kubernetes.io/docs/concepts/services-networking/ingress; FAULTS NW-12",
    faults=(
        Fault(
            id="rule-mistaken",
            sign=Sign.ERRORS,
            level=2,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get ingress {_way(case).name} "
                    f"-o jsonpath='{{.spec.rules[{_way(case).rule}]}}'",
                    shows=_shown(case),
                ),
            ),
            repaired_when=lambda case: (paths_lead_where_they_led(case),),
            allowed=lambda case: (case.allow("spec.rules", resource=INGRESSES, name=_way(case).name),),
            repairs=(
                lambda case: (_one_field(case),),
                lambda case: (_split(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_catch_all(case),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=lambda case: (_one_field(case), _catch_all(case))),
                Decoy(script=_made_again, is_harmful=True),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Ingress", namespace=case.namespace, name=_way(case).name, mechanism=Mechanism.INGRESS
            ),
        ),
    ),
)
