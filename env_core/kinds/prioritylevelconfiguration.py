"""Priority levels: how many requests the API server serves at once, and what happens to the rest."""

from __future__ import annotations

import math

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._flowcontrol_rules import condition_problems
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem, forbidden, invalid, not_supported, required
from env_core.world import Object

QUEUES_MAX = 10_000_000
_HASH_BITS_MAX = 60
_LIMITED: Object = {"nominalConcurrencyShares": 30, "lendablePercent": 0}
_EXEMPT: Object = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
_QUEUING: Object = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}
_TYPES = ("Exempt", "Limited")
_RESPONSES = ("Queue", "Reject")


def _filled(obj: Object, defaults: Object) -> Object:
    return {**obj, **{key: value for key, value in defaults.items() if obj.get(key) is None}}


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    changes: Object = {}
    if spec.get("exempt") is not None:
        changes["exempt"] = _filled(spec["exempt"], _EXEMPT)
    limited = spec.get("limited")
    if limited is not None:
        limited = _filled(limited, _LIMITED)
        response = limited.get("limitResponse") or {}
        queuing = response.get("queuing")
        if queuing is not None:
            given = {key: value for key, value in queuing.items() if value}
            limited["limitResponse"] = {**response, "queuing": {**_QUEUING, **given}}
        changes["limited"] = limited
    filled = {**spec, **changes}
    return obj if filled == spec else {**obj, "spec": filled}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    """Check a priority level.

    Source: k8s.io/kubernetes pkg/apis/flowcontrol/validation; tests/golden/l2/defaults.jsonl.gz.
    """
    spec, name = obj.get("spec") or {}, obj["metadata"].get("name", "")
    kind, limited = spec.get("type") or "", spec.get("limited")
    found: list[Problem] = []
    if (name == "exempt") != (kind == "Exempt"):
        text = "type must be 'Exempt' if and only if name is 'exempt'"
        found.append(invalid("spec.type", kind, text))
    if kind == "Exempt" and limited is not None:
        found.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
    elif kind == "Limited" and limited is None:
        found.append(required("spec.limited", "must not be empty when type is Limited"))
    elif kind == "Limited":
        found += _limited_problems(limited or {})
    elif kind not in _TYPES:
        found.append(not_supported("spec.type", kind, _TYPES))
    return found


def _limited_problems(limited: Object) -> list[Problem]:
    field = "spec.limited"
    shares = limited.get("nominalConcurrencyShares") or 0
    found: list[Problem] = []
    if shares < 0:
        text = "must be a non-negative integer"
        found.append(invalid(f"{field}.nominalConcurrencyShares", shares, text))
    response = limited.get("limitResponse") or {}
    kind, queuing, path = response.get("type") or "", response.get("queuing"), f"{field}.limitResponse"
    if kind == "Reject" and queuing is not None:
        text = "must be nil if limited.limitResponse.type is not Limited"
        found.append(forbidden(f"{path}.queuing", text))
    elif kind == "Queue" and queuing is None:
        text = "must not be empty if limited.limitResponse.type is Limited"
        found.append(required(f"{path}.queuing", text))
    elif kind == "Queue":
        found += _queuing_problems(queuing or {}, f"{path}.queuing")
    elif not kind:
        found.append(required(f"{path}.type"))
    elif kind not in _RESPONSES:
        found.append(not_supported(f"{path}.type", kind, _RESPONSES))
    percent = limited.get("lendablePercent") or 0
    if not 0 <= percent <= 100:
        found.append(invalid(f"{field}.lendablePercent", percent, "must be between 0 and 100, inclusive"))
    return found


def _queuing_problems(queuing: Object, field: str) -> list[Problem]:
    limit, queues = queuing.get("queueLengthLimit") or 0, queuing.get("queues") or 0
    hand = queuing.get("handSize") or 0
    found: list[Problem] = []
    if limit <= 0:
        found.append(invalid(f"{field}.queueLengthLimit", limit, "must be positive"))
    if queues <= 0:
        found.append(invalid(f"{field}.queues", queues, "must be positive"))
    elif queues > QUEUES_MAX:
        found.append(invalid(f"{field}.queues", queues, f"must not be greater than {QUEUES_MAX}"))
    path = f"{field}.handSize"
    if hand <= 0:
        found.append(invalid(path, hand, "must be positive"))
    elif hand > queues:
        found.append(invalid(path, hand, f"should not be greater than queues ({queues})"))
    elif _entropy_bits(queues, hand) > _HASH_BITS_MAX:
        text = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_HASH_BITS_MAX}"
        found.append(invalid(path, hand, text))
    return found


def _entropy_bits(deck: int, hand: int) -> int:
    """Return the bits that dealing a hand needs.

    Source: k8s.io/apiserver pkg/util/shufflesharding RequiredEntropyBits.
    """
    return math.ceil(math.log2(float(deck)) * hand)


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    return condition_problems((new.get("status") or {}).get("conditions") or ())


def _cell_type(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("type") or "")


def _cell_shares(obj: Object, _now_ms: int) -> int | str:
    limited = (obj.get("spec") or {}).get("limited")
    return "<none>" if limited is None else int(limited.get("nominalConcurrencyShares") or 0)


def _queuing_column(name: str, field: str) -> Column:
    def cell(obj: Object, _now_ms: int) -> int | str:
        limited = (obj.get("spec") or {}).get("limited") or {}
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        return "<none>" if queuing is None else int(queuing.get(field) or 0)

    return Column(name, cell)


KIND = Kind(
    group="flowcontrol.apiserver.k8s.io",
    version="v1",
    kind="PriorityLevelConfiguration",
    plural="prioritylevelconfigurations",
    singular="prioritylevelconfiguration",
    is_namespaced=False,
    has_generation=True,
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_status=_validate_status,
    columns=(
        NAME,
        Column("Type", _cell_type),
        Column("NominalConcurrencyShares", _cell_shares),
        _queuing_column("Queues", "queues"),
        _queuing_column("HandSize", "handSize"),
        _queuing_column("QueueLengthLimit", "queueLengthLimit"),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api flowcontrol/v1 PriorityLevelConfiguration, 1.37; pkg/apis/flowcontrol; tests/golden/l2",
    unrecorded="most validation texts; requests are not limited",
)
