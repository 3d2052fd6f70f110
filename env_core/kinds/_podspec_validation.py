"""Validation of pod specs and pod templates, in the order in which the API server reports.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from env_core.kinds._field_rules import unsupported
from env_core.kinds._podspec_affinity import (
    affinity_problems,
    gate_problems,
    spread_problems,
    toleration_problems,
)
from env_core.kinds._podspec_containers import (
    PodContext,
    container_problems,
    ephemeral_container_problems,
    init_container_problems,
)
from env_core.kinds._podspec_resources import container_resource_problems, pod_resource_problems
from env_core.kinds._podspec_security import (
    operating_system_problems,
    pod_security_problems,
    user_namespace_problems,
)
from env_core.kinds._podspec_volumes import volume_problems
from env_core.objects import names
from env_core.objects.label_rules import annotation_problems, invalid_each, label_problems
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_PROFILES = frozenset({"runtime/default", "docker/default", "unconfined"})
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_MIRROR = "kubernetes.io/config.mirror"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_GRACE = 30
_NAMESERVERS_MAX = 3
_SEARCHES_MAX = 32
_SEARCH_CHARACTERS_MAX = 2048


def validate_pod_template(template: Object, path: str, claims: Sequence[str] = ()) -> list[Problem]:
    """Check a pod template; `path` is where it stands ("spec.template").

    `claims` names volumes that will come from claim templates, which containers may mount as well.
    """
    if _is_fine_template(orjson.dumps(template), tuple(claims)):
        return []
    return _template_problems(template, path, claims)


@lru_cache(maxsize=1024)
def _is_fine_template(text: bytes, claims: tuple[str, ...]) -> bool:
    return not _template_problems(orjson.loads(text), "", claims)


def _template_problems(template: Object, path: str, claims: Sequence[str]) -> list[Problem]:
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    found: list[Problem] = []
    if metadata:
        found += label_problems(metadata.get("labels"), f"{path}.labels")
        annotations = metadata.get("annotations")
        if annotations:
            found += annotation_problems(annotations, f"{path}.annotations")
            found += pod_annotation_problems(annotations, spec, f"{path}.annotations")
    found += pod_spec_problems(spec, f"{path}.spec", claims)
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        found.append(forbidden(f"{path}.spec.ephemeralContainers", text))
    return found


def pod_annotation_problems(annotations: dict[str, str], spec: Object, field: str) -> list[Problem]:
    """Check the annotations that mean something to pods."""
    found: list[Problem] = []
    if _MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        found.append(invalid(f"{field}[{_MIRROR}]", annotations[_MIRROR], text))
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not _is_int32(cost):
        found.append(invalid(f"{field}[{_DELETION_COST}]", cost, "must be a 32bit integer"))
    profiles = [
        key for key in sorted(annotations) if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER)
    ]
    for key in profiles:
        profile = annotations[key]
        if profile not in _SECCOMP_PROFILES and not profile.startswith("localhost/"):
            found.append(invalid(f"{field}.{key}", profile, "must be a valid seccomp profile"))
    for key in sorted(annotations):
        if key.startswith(_APPARMOR):
            name = key[len(_APPARMOR) :]
            if all(container.get("name") != name for container in _all_containers(spec)):
                found.append(invalid(f"{field}[{key}]", name, "container not found"))
            profile = annotations[key]
            if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
                found.append(
                    invalid(f"{field}[{key}]", profile, f'invalid AppArmor profile name: "{profile}"')
                )
    return found


def _is_int32(text: str) -> bool:
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or (len(digits) > 1 and digits[0] == "0"):
        return False
    return -(2**31) <= int(text) < 2**31


def _all_containers(spec: Object) -> list[Object]:
    return [
        container
        for key in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(key) or ()
    ]


def pod_spec_problems(spec: Object, field: str, from_templates: Sequence[str] = ()) -> list[Problem]:
    """Check a pod's spec, or a template's; `from_templates` names volumes made from claim templates."""
    volumes, found = volume_problems(spec.get("volumes") or [], f"{field}.volumes")
    for name in from_templates:
        volumes[name] = {"name": name, "persistentVolumeClaim": {"claimName": name}}
    claims = spec.get("resourceClaims")
    claim_names: tuple[str, ...] = ()
    if claims:
        claim_names = tuple([claim.get("name") or "" for claim in claims])
        found += _claim_problems(claims, f"{field}.resourceClaims")
    grace, policy = spec.get("terminationGracePeriodSeconds"), spec.get("restartPolicy") or ""
    context = PodContext(volumes, claim_names, _GRACE if grace is None else grace, policy)
    containers = spec.get("containers") or []
    starting, debugging = spec.get("initContainers"), spec.get("ephemeralContainers")
    found += container_problems(containers, context, f"{field}.containers")
    if starting:
        found += init_container_problems(starting, containers, context, f"{field}.initContainers")
    if debugging:
        others = [*containers, *(starting or ())]
        found += ephemeral_container_problems(debugging, others, context, f"{field}.ephemeralContainers")
    if spec.get("resources") is not None:
        found += pod_resource_problems(spec, f"{field}.resources")
    found += _choice(policy, _RESTART_POLICIES, f"{field}.restartPolicy")
    found += _choice(spec.get("dnsPolicy") or "", _DNS_POLICIES, f"{field}.dnsPolicy")
    if spec.get("nodeSelector"):
        found += label_problems(spec["nodeSelector"], f"{field}.nodeSelector")
    if spec.get("securityContext") or spec.get("hostNetwork") or spec.get("shareProcessNamespace"):
        found += pod_security_problems(spec, field)
    if spec.get("affinity"):
        found += affinity_problems(spec["affinity"], f"{field}.affinity")
    found += _dns_problems(spec.get("dnsConfig"), spec.get("dnsPolicy"), f"{field}.dnsConfig")
    if spec.get("readinessGates") or spec.get("schedulingGates"):
        found += gate_problems(spec, field)
    if spec.get("topologySpreadConstraints"):
        found += spread_problems(spec["topologySpreadConstraints"], f"{field}.topologySpreadConstraints")
    found += user_namespace_problems(spec, field)
    found += _name_problems(spec, field)
    if spec.get("tolerations"):
        found += toleration_problems(spec["tolerations"], f"{field}.tolerations")
    if spec.get("hostAliases"):
        found += _alias_problems(spec["hostAliases"], f"{field}.hostAliases")
    found += _late_problems(spec, field)
    return found + operating_system_problems(spec, field)


def _choice(value: str, options: tuple[str, ...], field: str) -> list[Problem]:
    if value in options:
        return []
    return [unsupported(field, value, options)] if value else [required(field)]


def _claim_problems(claims: list[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, claim in enumerate(claims):
        name, path = claim.get("name") or "", f"{field}[{index}]"
        if name in seen:
            found.append(duplicate(f"{path}.name", name))
        seen.append(name)
        found += (
            invalid_each(f"{path}.name", name, names.is_dns1123_label(name))
            if name
            else [required(f"{path}.name")]
        )
        sources = [
            key for key in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(key) is not None
        ]
        if len(sources) != 1:
            why = "at most one of" if sources else "must specify one of:"
            text = f"{why} `resourceClaimName`, `resourceClaimTemplateName`"
            found.append(Problem("FieldValueInvalid", path, text, ""))
    return found


def _dns_problems(config: Object | None, policy: str | None, field: str) -> list[Problem]:
    if policy == "None":
        if config is None:
            return [required(field, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{field}.nameservers", text)]
    if not config:
        return []
    found: list[Problem] = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _NAMESERVERS_MAX:
        text = f"must not have more than {_NAMESERVERS_MAX} nameservers"
        found.append(invalid(f"{field}.nameservers", servers, text))
    for index, server in enumerate(servers):
        found += invalid_each(f"{field}.nameservers[{index}]", server, names.is_ip(server))
    if len(searches) > _SEARCHES_MAX:
        text = f"must not have more than {_SEARCHES_MAX} search paths"
        found.append(invalid(f"{field}.searches", searches, text))
    if len(" ".join(searches)) > _SEARCH_CHARACTERS_MAX:
        text = f"must not have more than {_SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list"
        found.append(invalid(f"{field}.searches", searches, text))
    for index, search in enumerate(searches):
        if search == ".":
            continue
        domain = search.removesuffix(".")
        complaints = names.is_dns1123_subdomain(domain.replace("_", "a"))
        found += invalid_each(f"{field}.searches[{index}]", domain, complaints)
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            found.append(required(f"{field}.options[{index}]", "must not be empty"))
    return found


def _name_problems(spec: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for key, check in _NAMES:
        name = spec.get(key)
        if name:
            complaints = check(name)
            if complaints:
                found += invalid_each(f"{field}.{key}", name, complaints)
        if key == "nodeName":
            found += _deadline_problems(spec.get("activeDeadlineSeconds"), f"{field}.activeDeadlineSeconds")
    return found


_NAMES = (
    ("serviceAccountName", names.is_dns1123_subdomain),
    ("nodeName", names.is_dns1123_subdomain),
    ("hostname", names.is_dns1123_label),
    ("subdomain", names.is_dns1123_label),
)


def _deadline_problems(seconds: Any, field: str) -> list[Problem]:
    if seconds is None:
        return []
    return invalid_each(field, seconds, names.is_in_range(seconds, 1, names.INT32_MAX))


def _alias_problems(aliases: list[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, alias in enumerate(aliases):
        address = alias.get("ip") or ""
        found += invalid_each(f"{field}[{index}].ip", address, names.is_ip(address))
        for place, host in enumerate(alias.get("hostnames") or ()):
            found += invalid_each(
                f"{field}[{index}].hostnames[{place}]", host, names.is_dns1123_subdomain(host)
            )
    return found


def _late_problems(spec: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for key in ("priorityClassName", "runtimeClassName"):
        name = spec.get(key)
        if name or (name is not None and key == "runtimeClassName"):
            found += invalid_each(f"{field}.{key}", name, names.is_dns1123_subdomain(name))
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        found += _choice(policy, _PREEMPTION, f"{field}.preemptionPolicy")
    overhead = spec.get("overhead")
    if overhead:
        found += container_resource_problems({"limits": overhead}, (), f"{field}.overhead")
    return found
