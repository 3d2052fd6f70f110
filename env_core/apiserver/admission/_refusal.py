"""How admission plugins refuse: Forbidden, about the object under the name that the client knows."""

from __future__ import annotations

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.metadata import is_name_generated
from env_core.apiserver.plugin import Attributes


def name_of(attributes: Attributes, *, is_mutating: bool) -> str:
    """Return the name that a refusal shows.

    Generated names do not exist yet while upstream mutates, so a mutating plugin's refusal shows the
    `generateName` (tests/golden/l2/flows/deploy-sa-missing.json.gz); a validating one shows the name.
    """
    obj = attributes.object if attributes.object is not None else attributes.old
    if obj is None:
        return attributes.name
    metadata = obj["metadata"]
    name: str = metadata.get("name") or attributes.name
    if not is_mutating or attributes.operation != "CREATE":
        return name
    return str(metadata["generateName"]) if is_name_generated(metadata) else name


def refusal(attributes: Attributes, why: str, *, is_mutating: bool = False) -> StatusError:
    """Return the Forbidden error of a plugin: `pods "web" is forbidden: <why>`."""
    kind = attributes.kind
    return errors.forbidden(kind.group, kind.plural, name_of(attributes, is_mutating=is_mutating), why)
