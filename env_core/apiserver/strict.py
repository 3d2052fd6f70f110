"""Reads request bodies into the API's types: unknown and repeated fields, wrong types, wrong kinds, normal form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from env_core.apiserver._normal_form import NotNormal, normalize
from env_core.apiserver._slow_decode import SlowDecoder, ValueRefused
from env_core.apiserver._unstructured import UnstructuredReader
from env_core.apiserver.errors import StatusError, status
from env_core.apiserver.schema import StructType, schema_for
from env_core.objects.goformat import value_text
from env_core.objects.gojson import JsonSyntaxError, Literal, Repeated, kind_word, number_text, plain, read
from env_core.objects.jsonout import quote, to_compact_json
from env_core.objects.problems import invalid as invalid_value
from env_core.world import Object

__all__ = [
    "DecodeError", "Decoded", "ValueRefused", "decode", "decode_json_patched", "decode_strategic_patched", "normalize",
    "read_as",
]  # fmt: skip

STRICT: Final = "Strict"
WARN: Final = "Warn"
IGNORE: Final = "Ignore"
SCHEME: Final = "pkg/runtime/scheme.go:111"
"""What the server calls its scheme (recorded in l2/facts/errors; the l0 vectors name another file)."""

_SUMMARY_LENGTH: Final = 30
_META_TYPE: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_INTERNAL_PACKAGES: Final = {"": "core", "events.k8s.io": "core", "extensions": "apps"}
_CORE_KINDS_ELSEWHERE: Final = {"Ingress": "networking", "NetworkPolicy": "networking"}
_OLD_VERSIONS: Final = {
    ("apps", "v1beta1"): ("apps", frozenset({"ControllerRevision", "Deployment", "StatefulSet"})),
    ("apps", "v1beta2"): (
        "apps",
        frozenset({"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
    ),
    ("batch", "v1beta1"): ("batch", frozenset({"CronJob"})),
    ("extensions", "v1beta1"): ("apps", frozenset({"DaemonSet", "Deployment", "ReplicaSet"})),
    ("networking.k8s.io", "v1beta1"): ("networking.k8s.io", frozenset({"Ingress", "IngressClass"})),
    ("policy", "v1beta1"): ("policy", frozenset({"PodDisruptionBudget"})),
}
"""Versions that the scheme still knows although the server no longer serves them, and the group that has them now."""


class DecodeError(StatusError):
    """The body is no object of the wanted kind."""

    def __init__(
        self, message: str, reason: str = "BadRequest", code: int = 400, details: Object | None = None
    ) -> None:
        super().__init__(status(code, reason, message, details))


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object in normal form, with the warnings to send along."""

    object: Object
    warnings: tuple[str, ...] = ()


def decode(
    body: str | bytes | Object,
    group: str,
    version: str,
    kind: str,
    mode: str = STRICT,
    *,
    scheme: str = SCHEME,
) -> Decoded:
    """Read a request body that should be a `kind`.

    `mode` is the request's fieldValidation: "Strict" refuses unknown and repeated fields, "Warn" lists them in
    `warnings`, "Ignore" drops them silently. Repeated fields can only be seen in text.

    Raises:
        DecodeError: 400, in the server's words.
        KeyError: no built-in API has this kind.

    Source: the API server's create decoding; tests/golden/l0/strict_decoding, l2/facts/errors.
    """
    struct = schema_for(group, version, kind)
    if struct is None:
        raise KeyError(f"{group}/{version}/{kind}")
    if isinstance(body, dict):
        value: Any = body
    else:
        try:
            value = read(body)
        except JsonSyntaxError as why:
            raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {why}", body) from None
    try:
        found = _identity(value)
    except ValueError as why:
        raise _unrecognized(kind, str(why), body) from None
    found_group, found_version, found_kind = _with_defaults(found, (group, version, kind))
    try:
        decoded = _decode_as(
            value, (found_group, found_version, found_kind), (group, version, kind), mode, scheme
        )
    except ValueRefused as why:
        raise DecodeError(
            f'{found_kind} in version "{found_version}" cannot be handled as a {kind}: {why}'
        ) from None
    if (found_group, found_version) != (group, version):
        message = (
            f"the API version in the data ({_group_version(found_group, found_version)})"
            f" does not match the expected API version ({_group_version(group, version)})"
        )
        raise DecodeError(message)
    return decoded


def _decode_as(
    value: Any, found: tuple[str, str, str], wanted: tuple[str, str, str], mode: str, scheme: str
) -> Decoded:
    """Decode into the type the body names, then convert to the wanted one.

    Raises:
        ValueRefused: without the words that say what the body is.
    """
    struct, internal = _registered(found)
    if struct is None:
        place = _group_version(found[0], found[1])
        raise ValueRefused(f'no kind "{found[2]}" is registered for version "{place}" in scheme "{scheme}"')
    built, strict_errors = read_as(value, struct)
    if mode == IGNORE:
        strict_errors = []
    wanted_internal = _registered(wanted)[1]
    if internal != wanted_internal:
        package = found[1]
        raise ValueRefused(f"converting ({package}.{found[2]}) to ({wanted_internal}): unknown conversion")
    if strict_errors and mode != WARN:
        raise ValueRefused("strict decoding error: " + ", ".join(strict_errors))
    if "kind" in struct.fields:
        api_version = _group_version(wanted[0], wanted[1])
        if built.get("apiVersion") != api_version or built.get("kind") != wanted[2]:
            named = {"kind": wanted[2], "apiVersion": api_version}
            built = named | {key: item for key, item in built.items() if key not in named}
    return Decoded(built, tuple(strict_errors))


def read_as(value: Any, struct: StructType) -> tuple[Any, list[str]]:
    """Return a value in the normal form of a Go type, and the strict errors about it.

    Raises:
        ValueRefused: a part has the wrong type.
    """
    try:
        return normalize(value, struct), []
    except NotNormal:
        decoder = SlowDecoder()
        return normalize(decoder.document(value, struct), struct), decoder.strict_errors


@lru_cache(maxsize=512)
def _registered(gvk: tuple[str, str, str]) -> tuple[StructType | None, str]:
    """Return a kind's Go type and the name of the internal type it converts to."""
    group, version, kind = gvk
    struct = schema_for(group, version, kind)
    if struct is None and (group, version) in _OLD_VERSIONS:
        now, kinds = _OLD_VERSIONS[(group, version)]
        struct = schema_for(now, "v1", kind) if kind in kinds else None
    package = _INTERNAL_PACKAGES.get(group) or group.partition(".")[0]
    if struct is not None and struct.path.startswith("apimachinery/"):
        package = "internalversion" if kind == "ListOptions" else struct.text.partition(".")[0]
    elif group == "extensions":
        package = _CORE_KINDS_ELSEWHERE.get(kind, package)
    return struct, f"{package}.{kind}"


def _group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _identity(value: Any) -> tuple[str, str, str]:
    """Return the (group, version, kind) that a body says it is, "" for what it does not say.

    Names match in any case here, as Go's own JSON reader finds them.

    Raises:
        ValueError: the body is no object, or says it wrongly.
    """
    if value is None:
        return "", "", ""
    if not isinstance(value, dict):
        raise _bad_identity(f"json: cannot unmarshal {kind_word(value)} into Go value of type {_META_TYPE}")
    texts = {"apiversion": "", "kind": ""}
    problem = ""
    for key, item in value.pairs if isinstance(value, Repeated) else value.items():
        if len(key) not in (4, 10) or item is None:
            continue
        name = key.lower()
        if name in texts:
            if isinstance(item, str):
                texts[name] = item
            elif not problem:
                field = "kind" if name == "kind" else "apiVersion"
                problem = (
                    f"json: cannot unmarshal {kind_word(item)} into Go struct field .{field} of type string"
                )
    if problem:
        raise _bad_identity(problem)
    api_version = texts["apiversion"]
    group, slash, version = api_version.partition("/")
    if "/" in version:
        raise ValueError(f"unexpected GroupVersion string: {api_version}")
    return (group, version, texts["kind"]) if slash else ("", api_version, texts["kind"])


def _bad_identity(problem: str) -> ValueError:
    return ValueError(f"couldn't get version/kind; json parse error: {problem}")


def _with_defaults(found: tuple[str, str, str], wanted: tuple[str, str, str]) -> tuple[str, str, str]:
    group, version, kind = found
    if not version and (not group or group == wanted[0]):
        group, version = wanted[0], wanted[1]
    return group, version, kind or wanted[2]


def _unrecognized(kind: str, problem: str, body: str | bytes | Object) -> DecodeError:
    if isinstance(body, dict):
        data = to_compact_json(plain(body)).encode()
    else:
        data = body if isinstance(body, bytes) else body.encode()
    return DecodeError(
        f"the object provided is unrecognized (must be of type {kind}): {problem} ({_summary(data)})"
    )


def _summary(data: bytes) -> str:
    if not data:
        return "<empty>"
    start = data[:_SUMMARY_LENGTH]
    text = start.decode("utf-8", "replace") if data.startswith(b"{") else start.hex()
    return text if len(data) <= _SUMMARY_LENGTH else text + " ..."


def decode_json_patched(
    patched: Any,
    group: str,
    version: str,
    kind: str,
    mode: str = STRICT,
    *,
    patch_warnings: tuple[str, ...] = (),
    scheme: str = SCHEME,
) -> Decoded:
    """Read the result of a JSON or merge patch; `patch_warnings` are those about the patch itself.

    Raises:
        DecodeError: 422 that shows the whole patched document.
        KeyError: no built-in API has this kind.

    Source: endpoints/handlers/patch.go; tests/golden/l2/facts/errors.
    """
    if schema_for(group, version, kind) is None:
        raise KeyError(f"{group}/{version}/{kind}")
    try:
        try:
            found = _identity(patched)
        except ValueError as why:
            raise ValueRefused(str(why)) from None
        gvk = _with_defaults(found, (group, version, kind))
        lenient = IGNORE if mode == IGNORE else WARN
        decoded = _decode_as(patched, gvk, (group, version, kind), lenient, scheme)
        warnings = () if mode == IGNORE else (*patch_warnings, *decoded.warnings)
        if warnings and mode == STRICT:
            raise ValueRefused("strict decoding error: " + ", ".join(warnings))
    except ValueRefused as why:
        raise _invalid_patch(_text_in_order(patched), str(why)) from None
    return Decoded(decoded.object, warnings)


def decode_strategic_patched(
    patched: Object,
    patch_left: Object,
    group: str,
    version: str,
    kind: str,
    mode: str = STRICT,
    *,
    patch_warnings: tuple[str, ...] = (),
) -> Decoded:
    """Read the result of a strategic merge patch; `patch_left` is what the merge left of the patch.

    Raises:
        DecodeError: 422 that shows `patch_left`.
        KeyError: no built-in API has this kind.

    Source: endpoints/handlers/patch.go applyPatchToObject, runtime.FromUnstructuredWithValidation;
    tests/golden/l0/patch_strategic.
    """
    struct = schema_for(group, version, kind)
    if struct is None:
        raise KeyError(f"{group}/{version}/{kind}")
    unknown: list[str] = []
    try:
        try:
            built = normalize(patched, struct)
        except NotNormal:
            reader = UnstructuredReader()
            try:
                built = normalize(reader.document(patched, struct), struct)
            except NotNormal:
                raise ValueRefused("a number is out of range") from None
            unknown = sorted(reader.unknown)
        warnings = () if mode == IGNORE else (*patch_warnings, *unknown)
        if warnings and mode == STRICT:
            raise ValueRefused("strict decoding error: " + ", ".join(warnings))
    except ValueRefused as why:
        raise _invalid_patch(value_text(patch_left), str(why)) from None
    return Decoded(built, warnings)


def _invalid_patch(shown: str, why: str) -> DecodeError:
    problem = invalid_value("patch", shown, why)
    return DecodeError(f' "" is invalid: {problem.text()}', "Invalid", 422, {"causes": [problem.cause()]})


def _text_in_order(value: Any) -> str:
    """Return compact JSON that keeps the order of members."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(key)}:{_text_in_order(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text_in_order, value)) + "]"
    return number_text(value) if isinstance(value, Literal) else to_compact_json(value)
