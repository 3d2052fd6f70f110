"""Volume attributes classes: properties of volumes that may change while they are in use."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, write_events
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._storage_text import pairs_text
from env_core.objects import names
from env_core.objects.problems import Problem, forbidden, invalid, required, too_long
from env_core.world import Object

PARAMETERS_BYTES_MAX = 256 * 1024
PARAMETERS_MAX = 512


def _validate(obj: Object) -> list[Problem]:
    """Check a class.

    Source: k8s.io/kubernetes pkg/apis/storage/validation ValidateVolumeAttributesClass.
    """
    driver, parameters = obj.get("driverName") or "", obj.get("parameters") or {}
    found: list[Problem] = []
    if driver:
        found += [invalid("driverName", driver, text) for text in names.is_qualified_name(driver.lower())]
    else:
        found.append(required("driverName"))
    if len(parameters) > PARAMETERS_MAX:
        found.append(too_long("parameters", PARAMETERS_MAX))
        return found
    if not parameters:
        found.append(required("parameters", "must contain at least one key/value pair"))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items())
    if "" in parameters:
        found.append(invalid("parameters", "", "field can not be empty."))
    if size > PARAMETERS_BYTES_MAX:
        found.append(too_long("parameters", PARAMETERS_BYTES_MAX))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    changed = [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("driverName", "parameters")
        if new.get(field) != old.get(field)
    ]
    return changed + _validate(new)


def _cell_driver(obj: Object, _now_ms: int) -> str:
    return str(obj.get("driverName") or "")


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    writer = LineWriter()
    writer.line(0, f"Name:\t{obj['metadata']['name']}")
    writer.line(0, f"Annotations:\t{pairs_text(obj['metadata'].get('annotations'))}")
    writer.line(0, f"DriverName:\t{obj.get('driverName') or ''}")
    writer.line(0, f"Parameters:\t{pairs_text(obj.get('parameters'))}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="VolumeAttributesClass",
    plural="volumeattributesclasses",
    singular="volumeattributesclass",
    short_names=("vac",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(NAME, Column("DriverName", _cell_driver), AGE),
    describe=_describe,
    source="k8s.io/api storage/v1 VolumeAttributesClass, 1.37; pkg/printers; tests/golden/l2/facts",
    unrecorded="validation and describe texts",
)
