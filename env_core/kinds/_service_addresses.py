"""Rules for the cluster IPs of a service and their families.

Source: kubernetes pkg/apis/core/validation; tests/golden/l0/validation.jsonl.gz, tests/golden/l2/defaults.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._service_strategy import is_headless
from env_core.objects import names
from env_core.objects.problems import Problem, duplicate, invalid, not_supported, required
from env_core.world import Object

_FAMILIES = {"IPv4": 4, "IPv6": 6}
_POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"]
_CLUSTER_IPS_MAX = 2
_UNCHANGEABLE = "may not change once set"
_FIELD = "spec.clusterIPs"
_FAMILIES_FIELD = "spec.ipFamilies"


def cluster_ip_problems(spec: Object) -> list[Problem]:
    """Check `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` against one another."""
    if spec.get("type") == "ExternalName":
        return []
    addresses = spec.get("clusterIPs") or []
    found = _pair_problems(spec, addresses) + _family_problems(spec)
    bad = _address_problems(addresses)
    found += bad
    if len(addresses) > _CLUSTER_IPS_MAX:
        found.append(invalid(_FIELD, addresses, f"may only hold up to {_CLUSTER_IPS_MAX} values"))
    if bad:
        return found
    if len(addresses) > 1 and {names.ip_family(address) for address in addresses} != {4, 6}:
        found.append(invalid(_FIELD, addresses, "may specify no more than one IP for each IP family"))
    if not is_headless(spec):
        found += _mismatched_families(addresses, spec.get("ipFamilies") or [])
    return found


def _pair_problems(spec: Object, addresses: list[str]) -> list[Problem]:
    first = spec.get("clusterIP")
    if first and not addresses:
        return [required(_FIELD)]
    if first and addresses[0] != first:
        return [invalid(_FIELD, addresses, "first value must match `clusterIP`")]
    if not first and addresses:
        return [invalid(_FIELD, addresses, "must be empty when `clusterIP` is not specified")]
    return []


def _family_problems(spec: Object) -> list[Problem]:
    found: list[Problem] = []
    families = spec.get("ipFamilies") or []
    for index, family in enumerate(families):
        path = f"{_FAMILIES_FIELD}[{index}]"
        if family not in _FAMILIES:
            found.append(not_supported(path, family, list(_FAMILIES)))
        if family in families[:index]:
            found.append(duplicate(path, family))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        found.append(not_supported("spec.ipFamilyPolicy", policy, _POLICIES))
    if policy == "RequireDualStack" and (spec.get("clusterIP") != "None" or spec.get("selector")):
        text = "this cluster is not configured for dual-stack services"
        found.append(invalid("spec.ipFamilyPolicy", policy, text))
    return found


def _address_problems(addresses: list[str]) -> list[Problem]:
    found: list[Problem] = []
    for index, address in enumerate(addresses):
        if index == 0 and address == "None":
            if len(addresses) > 1:
                found.append(invalid(_FIELD, addresses, "'None' must be the first and only value"))
            continue
        found += [invalid(f"{_FIELD}[{index}]", address, text) for text in names.is_ip(address)]
    return found


def _mismatched_families(addresses: list[str], families: list[str]) -> list[Problem]:
    found: list[Problem] = []
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        wanted = _FAMILIES.get(family)
        if wanted and names.ip_family(address) != wanted:
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            found.append(invalid(f"{_FIELD}[{index}]", address, text))
    return found


def cluster_ip_changes(spec: Object, before: Object) -> list[Problem]:
    """Refuse to change the primary address or family; a second one may come and go.

    Nothing is refused on the way to or from ExternalName.
    """
    if "ExternalName" in (spec.get("type"), before.get("type")):
        return []
    return _address_changes(spec, before) + _family_changes(spec, before)


def _address_changes(spec: Object, before: Object) -> list[Problem]:
    if is_headless(spec) and is_headless(before):
        return []
    now = spec.get("clusterIPs") or []
    then = before.get("clusterIPs") or []
    shown = spec.get("clusterIPs")
    if len(now) == len(then):
        return [
            invalid(f"{_FIELD}[{index}]", shown, _UNCHANGEABLE)
            for index, address in enumerate(then)
            if now[index] != address
        ]
    found: list[Problem] = []
    if then and not now:
        found.append(invalid(f"{_FIELD}[0]", shown, "primary clusterIP can not be unset"))
    if then and now and now[0] != then[0]:
        found.append(invalid(f"{_FIELD}[0]", shown, _UNCHANGEABLE))
    if len(then) > len(now) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        text = "must be set to 'SingleStack' when releasing the secondary clusterIP"
        found.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), text))
    return found


def _family_changes(spec: Object, before: Object) -> list[Problem]:
    if is_headless(spec) or is_headless(before):
        return []
    now = spec.get("ipFamilies") or []
    then = before.get("ipFamilies") or []
    path = f"{_FAMILIES_FIELD}[0]"
    if len(now) == len(then):
        return [
            invalid(path, now, _UNCHANGEABLE) for index, family in enumerate(then) if now[index] != family
        ]
    found: list[Problem] = []
    if len(then) > len(now) and not spec.get("clusterIPs"):
        found.append(invalid(path, spec.get("ipFamilies"), "primary ipFamily can not be unset"))
    if now and then and now[0] != then[0]:
        found.append(invalid(path, spec.get("clusterIPs"), _UNCHANGEABLE))
    if len(then) > len(now) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        text = "must be set to 'SingleStack' when releasing the secondary ipFamily"
        found.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), text))
    return found
