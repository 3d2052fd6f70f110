"""The file of a kustomization: its fields and their types, as Go's strict decoder reads them.

Source: sigs.k8s.io/kustomize/api types (kustomization.go and its neighbours), encoding/json with
DisallowUnknownFields; what kubectl 1.37.1 answers to wrong files.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.objects.yamlin import YamlProblem, read_yaml

KIND: Final = "Kustomization"
COMPONENT: Final = "Component"
VERSION: Final = "kustomize.config.k8s.io/v1beta1"
COMPONENT_VERSION: Final = "kustomize.config.k8s.io/v1alpha1"

_GVK: Final = {"Gvk.group": "string", "Gvk.version": "string", "Gvk.kind": "string"}
_RES_ID: Final = {
    **{f"ResId.{name}": "string" for name in _GVK},
    "ResId.name": "string",
    "ResId.namespace": "string",
}
_GENERATOR: Final = {
    "GeneratorArgs.namespace": "string",
    "GeneratorArgs.name": "string",
    "GeneratorArgs.behavior": "string",
    "GeneratorArgs.KvPairSources.literals": "[]string",
    "GeneratorArgs.KvPairSources.files": "[]string",
    "GeneratorArgs.KvPairSources.envs": "[]string",
    "GeneratorArgs.KvPairSources.env": "string",
    "GeneratorArgs.options": "GeneratorOptions",
}
_HELM_CHART: Final = {
    **dict.fromkeys(
        ("name", "version", "repo", "releaseName", "namespace", "valuesFile", "valuesMerge", "nameTemplate",
         "kubeVersion"), "string"),
    **dict.fromkeys(("apiVersions", "additionalValuesFiles"), "[]string"),
    **dict.fromkeys(("includeCRDs", "skipHooks", "skipTests", "debug", "devel"), "bool"),
    "valuesInline": "any",
}  # fmt: skip
STRUCTS: Final[dict[str, dict[str, str]]] = {
    "Kustomization": {
        "TypeMeta.kind": "string",
        "TypeMeta.apiVersion": "string",
        "metadata": "ObjectMeta",
        "openapi": "{}string",
        "namePrefix": "string",
        "nameSuffix": "string",
        "namespace": "string",
        "commonLabels": "{}string",
        "labels": "[]Label",
        "commonAnnotations": "{}string",
        "patchesStrategicMerge": "[]PatchStrategicMerge",
        "patchesJson6902": "[]Patch",
        "patches": "[]Patch",
        "images": "[]Image",
        "imageTags": "[]Image",
        "replacements": "[]ReplacementField",
        "replicas": "[]Replica",
        "vars": "[]Var",
        "sortOptions": "SortOptions",
        "helmGlobals": "HelmGlobals",
        "generatorOptions": "GeneratorOptions",
        "configMapGenerator": "[]ConfigMapArgs",
        "secretGenerator": "[]SecretArgs",
        "helmCharts": "[]HelmChart",
        "helmChartInflationGenerator": "[]HelmChartArgs",
        **dict.fromkeys(
            ("resources", "components", "crds", "bases", "configurations", "generators", "transformers", "validators",
             "buildMetadata"), "[]string"),
    },
    "ObjectMeta": {
        "name": "string", "namespace": "string", "labels": "{}string", "annotations": "{}string",
    },
    "Label": {
        "pairs": "{}string",
        "includeSelectors": "bool",
        "includeTemplates": "bool",
        "fields": "[]FieldSpec",
    },
    "FieldSpec": {**_GVK, "path": "string", "create": "bool"},
    "Patch": {"path": "string", "patch": "string", "target": "Selector", "options": "PatchArgs"},
    "PatchArgs": {"allowNameChange": "bool", "allowKindChange": "bool"},
    "Selector": {**_RES_ID, "annotationSelector": "string", "labelSelector": "string"},
    "Image": dict.fromkeys(("name", "newName", "tagSuffix", "newTag", "digest"), "string"),
    "ReplacementField": {
        "Replacement.source": "SourceSelector",
        "Replacement.targets": "[]TargetSelector",
        "Replacement.sourceValue": "string",
        "path": "string",
    },
    "SourceSelector": {**_RES_ID, "fieldPath": "string", "options": "FieldOptions"},
    "TargetSelector": {
        "select": "Selector", "reject": "[]Selector", "fieldPaths": "[]string", "options": "FieldOptions",
    },
    "FieldOptions": {"delimiter": "string", "index": "int", "encoding": "string", "create": "bool"},
    "Replica": {"name": "string", "count": "int64"},
    "Var": {"name": "string", "objref": "Target", "fieldref": "FieldSelector"},
    "Target": {"apiVersion": "string", **_GVK, "name": "string", "namespace": "string"},
    "FieldSelector": {"fieldPath": "string"},
    "SortOptions": {"order": "SortOrder", "legacySortOptions": "LegacySortOptions"},
    "LegacySortOptions": {"orderFirst": "[]string", "orderLast": "[]string"},
    "GeneratorOptions": {
        "labels": "{}string", "annotations": "{}string", "disableNameSuffixHash": "bool", "immutable": "bool",
    },
    "ConfigMapArgs": _GENERATOR,
    "SecretArgs": {**_GENERATOR, "type": "string"},
    "HelmGlobals": {"chartHome": "string", "configHome": "string"},
    "HelmChart": _HELM_CHART,
    "HelmChartArgs": {
        **dict.fromkeys(
            ("chartName", "chartVersion", "chartRepoUrl", "chartHome", "chartRepoName", "helmBin", "helmHome", "values",
             "valuesMerge", "releaseName", "releaseNamespace"), "string"),
        "valuesLocal": "any",
        "extraArgs": "[]string",
    },
}  # fmt: skip
"""The fields of every struct: the path by which Go names them, and their types ([] of, {} map to)."""
_NAMED_STRINGS: Final = ("PatchStrategicMerge", "SortOrder")
_DEPRECATED: Final = (
    ("bases", "resources", ""),
    ("commonLabels", "labels", ""),
    ("imageTags", "images", ""),
    ("patchesJson6902", "patches", ""),
    ("patchesStrategicMerge", "patches", ""),
    ("vars", "replacements", "[EXPERIMENTAL] "),
)


def read_definition(text: str) -> dict[str, Any]:
    """Return the fields of a kustomization, each as its type has it, absent where the file has none.

    Raises:
        KustomizeError: for what is no YAML, unknown fields and wrong types.
    """
    try:
        value = read_yaml(text)
    except YamlProblem as problem:
        raise KustomizeError(f"invalid Kustomization: yaml: {problem}") from None
    problems: list[str] = []
    found = _decoded(value, KIND, "Go value", "", problems)
    if problems:
        raise KustomizeError(f"invalid Kustomization: json: {problems[0]}")
    return found or {}


def typed(value: Any, type_: str) -> dict[str, Any]:
    """Return a value as a struct, without fields that the struct has not.

    Raises:
        KustomizeError: for wrong types.
    """
    problems: list[str] = []
    found = _decoded(value, type_, "Go value", "", problems)
    wrong = [problem for problem in problems if not problem.startswith("unknown field")]
    if wrong:
        raise KustomizeError(f"error unmarshaling JSON: while decoding JSON: json: {wrong[0]}")
    return found or {}


def deprecations(fields: dict[str, Any]) -> list[str]:
    """Return the warnings about old fields."""
    return [
        f"# Warning: '{old}' is deprecated. Please use '{new}' instead. "
        f"{note}Run 'kustomize edit fix' to update your Kustomization automatically."
        for old, new, note in _DEPRECATED
        if fields.get(old) is not None
    ]


def fixed(fields: dict[str, Any], root: str) -> dict[str, Any]:
    """Return the fields with old ones moved into the new ones, checked for kind and version.

    Raises:
        KustomizeError: for an empty kustomization, or one of another kind or version.
    """
    result = dict(fields)
    result["kind"] = result.get("kind") or KIND
    wanted = COMPONENT_VERSION if result["kind"] == COMPONENT else VERSION
    result["apiVersion"] = result.get("apiVersion") or wanted
    for old, new in (("bases", "resources"), ("imageTags", "images")):
        result[new] = [*(result.get(new) or ()), *(result.pop(old, None) or ())]
    for name in ("configMapGenerator", "secretGenerator"):
        result[name] = [_with_envs(one) for one in result.get(name) or ()]
    if not any(
        value
        or (
            value is not None and name not in ("resources", "images", "configMapGenerator", "secretGenerator")
        )
        for name, value in result.items()
        if name not in ("kind", "apiVersion") and value != ""
    ):
        raise KustomizeError("kustomization.yaml is empty")
    problems = []
    if result["kind"] not in (KIND, COMPONENT):
        problems.append(f"kind should be {KIND} or {COMPONENT}")
    if result["apiVersion"] != wanted:
        problems.append(f"apiVersion for {result['kind']} should be {wanted}")
    if problems:
        raise KustomizeError(f"Failed to read kustomization file under {root}:\n" + "\n".join(problems))
    return result


def _with_envs(args: dict[str, Any] | None) -> dict[str, Any]:
    found = dict(args or {})
    env = found.pop("env", "")
    return {**found, "envs": [*(found.get("envs") or ()), env]} if env else found


def _decoded(value: Any, type_: str, place: str, path: str, problems: list[str]) -> Any:
    """Return a value as its type has it; what does not fit is told and left out."""
    if value is None:
        return None
    if type_ == "any":
        return value
    if type_.startswith("[]"):
        if not isinstance(value, list):
            return _misfit(value, type_, place, problems)
        element = type_[2:]
        zero = "" if element == "string" or element in _NAMED_STRINGS else {}
        items = [_decoded(item, element, place, path, problems) for item in value]
        return [zero if item is None else item for item in items]
    if type_.startswith("{}"):
        if not isinstance(value, dict):
            return _misfit(value, "map[string]string", place, problems)
        pairs = {key: _decoded(value[key], type_[2:], place, path, problems) for key in sorted(value)}
        return {key: "" if item is None else item for key, item in pairs.items()}
    if type_ in STRUCTS:
        if not isinstance(value, dict):
            return _misfit(value, f"types.{type_}", place, problems)
        return _struct(value, type_, path, problems)
    return _scalar(value, type_, place, problems)


def _struct(value: dict[str, Any], type_: str, path: str, problems: list[str]) -> dict[str, Any]:
    fields = STRUCTS[type_]
    by_name = {place.rpartition(".")[2]: (place, own) for place, own in fields.items()}
    by_lower = {name.lower(): name for name in by_name}
    result: dict[str, Any] = {}
    for key in sorted(value):
        name = key if key in by_name else by_lower.get(key.lower())
        if name is None:
            problems.append(f'unknown field "{key}"')
            continue
        place, own = by_name[name]
        inner = f"{path}.{place}" if path else place
        found = _decoded(value[key], own, f"Go struct field {type_}.{inner}", inner, problems)
        if found is not None:
            result[name] = found
    return result


def _scalar(value: Any, type_: str, place: str, problems: list[str]) -> Any:
    fits: Any
    if type_ == "bool":
        fits = isinstance(value, bool)
    elif type_ in ("int", "int64"):
        fits = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, float):
            if value.is_integer() and abs(value) < 2**63:
                return int(value)
            problems.append(f"cannot unmarshal number {value} into {place} of type {type_}")
            return None
    else:
        fits = isinstance(value, str)
    if fits:
        return value
    shown = f"types.{type_}" if type_ in _NAMED_STRINGS else type_
    return _misfit(value, shown, place, problems)


def _misfit(value: Any, type_: str, place: str, problems: list[str]) -> None:
    word = (
        "bool"
        if isinstance(value, bool)
        else "string"
        if isinstance(value, str)
        else "number"
        if isinstance(value, (int, float))
        else "array"
        if isinstance(value, list)
        else "object"
    )
    if type_.startswith("[]") and type_[2:3].isupper():
        type_ = f"[]types.{type_[2:]}"
    problems.append(f"cannot unmarshal {word} into {place} of type {type_}")
