"""Own field specs, read from the files of `configurations`.

Source: sigs.k8s.io/kustomize/api internal/plugins/builtinconfig (loaddefaultconfig.go, transformerconfig.go).
"""

from __future__ import annotations

from typing import Any

from env_core.kubectl.kustomize.defaults import FIELDS, BackReference, Config
from env_core.kubectl.kustomize.fieldspecs import spec_of
from env_core.kubectl.kustomize.ids import Gvk
from env_core.kubectl.kustomize.loading import Loader
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.objects.yamlin import YamlProblem, read_yaml


def read_configurations(loader: Loader, paths: list[str], config: Config) -> Config:
    """Return a configuration with what files add to it.

    Raises:
        KustomizeError: when a file cannot be read, or contradicts.
    """
    if not paths:
        return config
    more = Config()
    for path in paths:
        text = loader.load(path)
        try:
            value = read_yaml(text)
        except YamlProblem as problem:
            raise KustomizeError(f"error converting YAML to JSON: yaml: {problem}") from None
        more = more.merged(_config(value if isinstance(value, dict) else {}))
    return config.merged(more)


def _config(value: dict[str, Any]) -> Config:
    specs = {name: [spec_of(row) for row in _rows(value.get(name))] for name in FIELDS}
    references = tuple(
        BackReference(
            Gvk(row.get("group") or "", row.get("version") or "", row.get("kind") or ""),
            tuple(spec_of(one) for one in _rows(row.get("fieldSpecs"))),
        )
        for row in _rows(value.get("nameReference"))
    )
    return Config(specs, references)


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
