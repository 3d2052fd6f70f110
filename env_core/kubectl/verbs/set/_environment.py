"""Environment variables of `set env`: from arguments, standard input, config maps and secrets; and listing them.

Source: k8s.io/kubectl pkg/cmd/set/env, set_env.go.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import Failure, Screen, raise_all
from env_core.kubectl.verb import Args
from env_core.kubectl.writes import error_message
from env_core.objects import names, quantity
from env_core.objects.problems import quoted
from env_core.world import Object

_ARGUMENT = re.compile(r"^(.+)=(.*)$", re.DOTALL | re.MULTILINE)
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_]")
_WHAT = "environment variable"


def split_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the resources and the changes behind them.

    Raises:
        Failure: when a resource comes after a change.
    """
    resources: list[str] = []
    changes: list[str] = []
    for word in words:
        if _ARGUMENT.search(word) or word.endswith("-"):
            changes.append(word)
        elif changes:
            raise Failure(f"all resources must be specified before environment changes: {' '.join(words)}")
        else:
            resources.append(word)
    return resources, changes


def read_changes(specs: Sequence[str], stdin: str) -> tuple[list[Object], list[str]]:
    """Return the variables to set and the names to remove.

    Raises:
        Failure: for a change that makes no sense.
    """
    variables: list[Object] = []
    removed: list[str] = []
    given: set[str] = set()
    for spec in specs:
        if spec == "-":
            variables.extend(_of_lines(stdin))
        elif "=" in spec:
            name, _, value = spec.partition("=")
            complaints = names.is_strict_env_var_name(name)
            if complaints:
                raise Failure(f"{quoted(name)} is not a valid key name: {';'.join(complaints)}")
            given.add(name)
            variables.append(_plain(name, value))
        elif spec.endswith("-"):
            removed.append(spec[:-1])
        else:
            raise Failure(f"unknown {_WHAT}: {spec}")
    if any(name in given for name in removed):
        raise Failure(f"can not both modify and remove the same {_WHAT} in the same command")
    return variables, removed


def _plain(name: str, value: str) -> Object:
    return {"name": name, "value": value} if value else {"name": name}


def _of_lines(text: str) -> list[Object]:
    found: list[Object] = []
    for line in text.splitlines():
        line = line.partition("#")[0]
        if "=" in line:
            name, _, value = line.partition("=")
            found.append(_plain(name, value))
    return found


def variables_from(ctx: Context, args: Args) -> list[Object]:
    """Return the variables of --from: one for each key of the config map or secret.

    Raises:
        Failure: for other kinds, and arguments that make no sense.
        StatusError: when the object cannot be had.
    """
    infos, errors = select(ctx, args, [args.text("from")], allows_no_selector=args.is_set("all")).load(ctx)
    raise_all(errors)
    keys = args.items("keys")
    found: list[Object] = []
    for info in infos:
        part = {"Secret": "secretKeyRef", "ConfigMap": "configMapKeyRef"}.get(info.kind.kind)
        if part is None:
            raise Failure("unsupported resource specified in --from")
        for key in sorted(info.found().get("data") or {}):
            if keys and key not in keys:
                continue
            name = _NOT_IN_NAME.sub("_", key).upper()
            if name != key:
                args.screen.err(f"Warning: key {key} transferred to {name}\n")
            found.append({"name": name, "valueFrom": {part: {"key": key, "name": info.name}}})
    return found


def updated(old: list[Object], new: list[Object], removed: list[str]) -> list[Object]:
    """Return the variables of a container after the change, in kubectl's order."""
    covered = set(removed)
    by_name: dict[str, Object] = {}
    for variable in new:
        by_name.setdefault(variable["name"], variable)
    result: list[Object] = []
    for variable in old:
        name = variable["name"]
        if name in covered:
            continue
        if name in by_name:
            covered.add(name)
            variable = by_name[name]
        result.append(variable)
    for variable in new:
        if variable["name"] not in covered:
            covered.add(variable["name"])
            result.append(variable)
    return result


def print_variables(ctx: Context, screen: Screen, obj: Object, container: Object, *, resolves: bool) -> bool:
    """Print the variables of one container, and return whether all references could be resolved."""
    failures: dict[str, list[str]] = {}
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source is None:
            screen.out(f"{variable['name']}={variable.get('value', '')}\n")
            continue
        if resolves:
            try:
                screen.out(f"{variable['name']}={_resolved(ctx, source, obj, container)}\n")
                continue
            except (Failure, StatusError) as error:
                failures.setdefault(error_message(error), []).append(variable["name"])
        screen.out(f"# {variable['name']} from {_reference(source)}\n")
    texts = [
        f"error retrieving reference for {', '.join(sorted(variables))}: {text}"
        for text, variables in failures.items()
    ]
    for text in sorted(texts):
        screen.err(text + "\n")
    return not failures


def _reference(source: Object) -> str:
    if source.get("configMapKeyRef"):
        found = source["configMapKeyRef"]
        return f"configmap {found.get('name', '')}, key {found['key']}"
    if source.get("secretKeyRef"):
        found = source["secretKeyRef"]
        return f"secret {found.get('name', '')}, key {found['key']}"
    if source.get("fieldRef"):
        return f"field path {source['fieldRef']['fieldPath']}"
    if source.get("resourceFieldRef"):
        found = source["resourceFieldRef"]
        prefix = f"{found['containerName']}/" if found.get("containerName") else ""
        return f"resource field {prefix}{found['resource']}"
    return "invalid valueFrom"


def _resolved(ctx: Context, source: Object, obj: Object, container: Object) -> str:
    if source.get("secretKeyRef"):
        reference = source["secretKeyRef"]
        data = ctx.api.get("secrets", ctx.namespace, reference.get("name", "")).get("data") or {}
        if reference["key"] not in data:
            raise Failure(f"key {reference['key']} not found in secret {reference.get('name', '')}")
        return base64.b64decode(data[reference["key"]]).decode("utf-8", "replace")
    if source.get("configMapKeyRef"):
        reference = source["configMapKeyRef"]
        data = ctx.api.get("configmaps", ctx.namespace, reference.get("name", "")).get("data") or {}
        if reference["key"] not in data:
            raise Failure(f"key {reference['key']} not found in config map {reference.get('name', '')}")
        return str(data[reference["key"]])
    if source.get("fieldRef"):
        return _field(obj, source["fieldRef"]["fieldPath"])
    if source.get("resourceFieldRef"):
        return _resource(source["resourceFieldRef"], container)
    raise Failure("invalid valueFrom")


def _field(obj: Object, path: str) -> str:
    metadata = obj.get("metadata") or {}
    if path in ("metadata.labels", "metadata.annotations"):
        values = metadata.get(path.partition(".")[2]) or {}
        return "\n".join(f"{key}={quoted(values[key])}" for key in sorted(values))
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        return str(metadata.get(path.partition(".")[2], ""))
    raise Failure(f"unsupported fieldPath: {path}")


def _resource(reference: Object, container: Object) -> str:
    part, _, name = reference["resource"].partition(".")
    if part not in ("limits", "requests") or name not in ("cpu", "memory", "ephemeral-storage"):
        raise Failure(f"Unsupported container resource : {reference['resource']}")
    value = ((container.get("resources") or {}).get(part) or {}).get(name, "0")
    divisor = reference.get("divisor") or "1"
    if divisor == "0":
        divisor = "1"
    return str(math.ceil(quantity.to_milli(value) / quantity.to_milli(divisor)))
