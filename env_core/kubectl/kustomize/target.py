"""One directory's kustomization, built: its resources gathered, generated and transformed.

Source: sigs.k8s.io/kustomize/api internal/target (kusttarget.go, kusttarget_configplugin.go), internal/accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from env_core.kubectl.kustomize import definition, transforming
from env_core.kubectl.kustomize.configuration import read_configurations
from env_core.kubectl.kustomize.defaults import Config, default_config
from env_core.kubectl.kustomize.generating import generate
from env_core.kubectl.kustomize.loading import NAMES, Loader
from env_core.kubectl.kustomize.patching import (
    apply_operations,
    configuring,
    read_json6902,
    read_patch,
    read_strategic,
)
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.reading import read_resources
from env_core.kubectl.kustomize.replacing import apply_replacements, read_replacements
from env_core.kubectl.kustomize.resmap import ResMap
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.variables import Variable, bind
from env_core.objects.yamlout import to_yaml

Warn = Callable[[str], None]
_GENERATOR = "&{{0xc0004a2000 {}}}"
"""A generator as Go prints it: an address, which is another one in every run."""


class Gathered:
    """The resources so far, where transformers look, and the variables."""

    __slots__ = ("config", "resources", "variables")

    def __init__(self) -> None:
        self.resources = ResMap()
        self.config = Config()
        self.variables: dict[str, Variable] = {}

    def merge(self, other: Gathered) -> None:
        """Take over what a directory has gathered; raises `KustomizeError`."""
        self.resources.extend(other.resources.resources)
        self.config = self.config.merged(other.config)
        for name, variable in other.variables.items():
            if name in self.variables:
                raise KustomizeError(f"var '{name}' already encountered")
            self.variables[name] = variable


class Target:
    """A kustomization that has been read."""

    __slots__ = ("_loader", "_warn", "fields")

    def __init__(self, loader: Loader, warn: Warn) -> None:
        self._loader = loader
        self._warn = warn
        fields = definition.read_definition(_read(loader))
        for warning in definition.deprecations(fields):
            warn(warning)
        self.fields = definition.fixed(fields, loader.root)
        path = (self.fields.get("openapi") or {}).get("path")
        if path is not None:
            # An own schema is read, as far as that can fail; lists of own types do not merge here.
            loader.load(path)

    def _list(self, name: str) -> list[Any]:
        return self.fields.get(name) or []

    def gather(self, found: Gathered) -> Gathered:
        """Gather into `found`, and return what has been gathered.

        Raises:
            KustomizeError: when the build fails.
        """
        try:
            self._gather_resources(found, self._list("resources"))
        except KustomizeError as error:
            raise error.within("accumulating resources") from None
        found.config = found.config.merged(
            read_configurations(self._loader, self._list("configurations"), default_config())
        )
        for path in self._list("crds"):
            try:
                self._loader.load(path)
            except KustomizeError as error:
                raise error.within(f"loading CRDs [{' '.join(self._list('crds'))}]") from None
        self._generate(found.resources)
        self._gather_plugins("generators", "loading generator plugins: ")
        try:
            found = self._gather_components(found)
        except KustomizeError as error:
            raise error.within("accumulating components") from None
        self._transform(found)
        self._gather_plugins("validators", "")
        try:
            bind(found.resources, self._list("vars"), found.variables)
        except KustomizeError as error:
            raise error.within(f"merging vars {self._list('vars')}") from None
        return found

    def _gather_resources(self, found: Gathered, paths: list[str]) -> None:
        for path in paths:
            try:
                self._gather_file(found, path)
            except KustomizeError as error:
                self._gather_base(found, path, error)

    def _gather_file(self, found: Gathered, path: str) -> None:
        try:
            text = self._loader.load(path)
            try:
                documents = read_resources(text)
                resources = ResMap(Resource(document.tree, document.repeats) for document in documents)
            except KustomizeError as error:
                if "MalformedYAMLError" in error.text:
                    raise KustomizeError(f"{error.text} in File: {path}") from None
                raise
        except KustomizeError as error:
            raise error.within(f"accumulating resources from '{path}'") from None
        try:
            found.resources.extend(resources.resources)
        except KustomizeError as error:
            raise error.within(f"merging resources from '{path}'") from None

    def _gather_base(self, found: Gathered, path: str, why: KustomizeError) -> None:
        """Gather a resource that is no file, but perhaps a directory."""
        try:
            loader = self._loader.child(path)
        except KustomizeError as error:
            if "MalformedYAMLError" in why.text:
                raise why from None
            raise error.within(f"accumulation err='{why.text}'") from None
        try:
            found.merge(self._sub(loader, is_component=False, found=Gathered()))
        except KustomizeError as error:
            if not error.text.startswith(("couldn't make target", "expected kind", "recursed ")):
                error = error.within(f"recursed merging from path '{loader.root}'")
            raise error.within(f"accumulation err='{why.text}'") from None

    def _gather_components(self, found: Gathered) -> Gathered:
        for path in self._list("components"):
            try:
                loader = self._loader.child(path)
            except KustomizeError as error:
                raise KustomizeError(f"loader.New {_quoted(error.text)}") from None
            try:
                found = self._sub(loader, is_component=True, found=found)
            except KustomizeError as error:
                raise KustomizeError(f"accumulateDirectory: {_quoted(error.text)}") from None
        return found

    def _sub(self, loader: Loader, *, is_component: bool, found: Gathered) -> Gathered:
        try:
            target = Target(loader, self._warn)
        except KustomizeError as error:
            raise error.within(f"couldn't make target for path '{loader.root}'") from None
        target.fields["buildMetadata"] = self._list("buildMetadata")
        kind = target.fields["kind"]
        if is_component and kind != definition.COMPONENT:
            raise KustomizeError(
                f"expected kind '{definition.COMPONENT}' for path '{loader.root}' but got '{kind}'"
            )
        if not is_component and kind == definition.COMPONENT:
            raise KustomizeError(f"expected kind != '{definition.COMPONENT}' for path '{loader.root}'")
        try:
            return target.gather(found)
        except KustomizeError as error:
            raise error.within(f"recursed accumulation of path '{loader.root}'") from None

    def _gather_plugins(self, name: str, prefix: str) -> None:
        """Read generators, transformers or validators, of which none can be run here."""
        found = Gathered()
        try:
            for entry in self._list(name):
                try:
                    documents = read_resources(entry)
                    found.resources.extend(Resource(document.tree) for document in documents)
                except KustomizeError:
                    self._gather_resources(found, [entry])
            for resource in found.resources.resources:
                raise KustomizeError(
                    f"unable to load builtin {resource.id}"
                    if resource.gvk.api_version == "builtin"
                    else f"external plugins disabled; unable to load external plugin '{resource.kind}'"
                )
        except KustomizeError as error:
            raise KustomizeError(prefix + error.text) from None

    def _generate(self, resources: ResMap) -> None:
        options = self.fields.get("generatorOptions")
        origin = "0xc0004a2080" if self._list("buildMetadata") else "<nil>"
        for chart in self._list("helmCharts"):
            raise configuring(
                "HelmChartInflationGenerator", to_yaml(chart), KustomizeError("must specify --enable-helm")
            )
        for name, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            for args in self._list(name):
                resource = generate(self._loader, args, options, kind)
                try:
                    resources.absorb(resource)
                except KustomizeError as error:
                    raise error.within(f"merging from generator {_GENERATOR.format(origin)}") from None

    def _replacements(self) -> list[dict[str, Any]]:
        rows = self._list("replacements")
        try:
            return read_replacements(self._loader, rows)
        except KustomizeError as error:
            raise configuring("ReplacementTransformer", to_yaml({"Replacements": rows}), error) from None

    def _transform(self, found: Gathered) -> None:
        fields, resources, config = self.fields, found.resources, found.config
        merges = read_strategic(self._loader, self._list("patchesStrategicMerge")) if fields.get(
            "patchesStrategicMerge") else []  # fmt: skip
        patches = [read_patch(self._loader, row) for row in self._list("patches")]
        operations = [read_json6902(self._loader, row) for row in self._list("patchesJson6902")]
        replacements = self._replacements()
        self._gather_plugins("transformers", "")
        for merge in merges:
            resources.apply_patch([resources.get(merge.first_id)], merge)
        resources.drop_empties()
        for patch in patches:
            patch.apply(resources)
            resources.drop_empties()
        if fields.get("namespace"):
            transforming.set_namespace(resources, fields["namespace"], config.of("namespace"))
        if fields.get("namePrefix"):
            transforming.add_affixes(resources, config.of("namePrefix"), prefix=fields["namePrefix"])
        if fields.get("nameSuffix"):
            transforming.add_affixes(resources, config.of("nameSuffix"), suffix=fields["nameSuffix"])
        transforming.add_labels(resources, fields, config)
        transforming.add_pairs(
            resources, fields.get("commonAnnotations") or {}, config.of("commonAnnotations")
        )
        for one in operations:
            for resource in resources.select(one.target or {}):
                apply_operations(resource, one.operations or [])
        for replica in self._list("replicas"):
            transforming.set_replicas(resources, replica, config.of("replicas"))
        for image in self._list("images"):
            transforming.set_image(resources, image, config.of("images"))
        apply_replacements(resources, replacements)


def _read(loader: Loader) -> str:
    found = []
    for name in NAMES:
        try:
            found.append(loader.load(name))
        except KustomizeError:
            continue
    if not found:
        first, second, third = (f"'{name}'" for name in NAMES)
        raise KustomizeError(
            f"unable to find one of {first}, {second} or {third} in directory '{loader.root}'"
        )
    if len(found) > 1:
        raise KustomizeError(f"Found multiple kustomization files under: {loader.root}\n")
    return found[0]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
