"""kustomize, as `kubectl kustomize` and -k run it, over the files of the terminal.

Helm charts, repositories, functions and other plugins are refused: they run programs or need the network.

Source: sigs.k8s.io/kustomize v5.8.1 (api/krusty); what kubectl 1.37.1 builds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.kubectl.context import Files
from env_core.kubectl.kustomize.fieldspecs import FieldSpec
from env_core.kubectl.kustomize.generating import add_hashes
from env_core.kubectl.kustomize.loading import first_loader
from env_core.kubectl.kustomize.ordering import ordered
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.reading import check_metadata
from env_core.kubectl.kustomize.references import fix_references
from env_core.kubectl.kustomize.resmap import ResMap
from env_core.kubectl.kustomize.resource import LOCAL, ORIGIN, TRANSFORMATIONS, Resource
from env_core.kubectl.kustomize.target import Gathered, Target
from env_core.kubectl.kustomize.transforming import add_pairs
from env_core.kubectl.kustomize.variables import resolve

__all__ = ["Built", "KustomizeError", "Options", "build"]

_MANAGED_BY = "app.kubernetes.io/managed-by"
_VERSION = "kustomize-v5.8.1"
_ORDERED_TWICE = (
    "Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag ('--reorder'). "
    "Using the kustomization file over the CLI flag."
)


@dataclass(frozen=True, slots=True)
class Options:
    """What flags say of a build: where files may come from, an old way to choose the order, and a label."""

    is_restricted: bool = True
    reorder: str = ""
    is_labelled: bool = False


DEFAULT = Options()


@dataclass(frozen=True, slots=True)
class Built:
    """The resources of a build, in order."""

    resources: tuple[Resource, ...]

    def as_yaml(self) -> str:
        """Return them as YAML, one document each.

        Raises:
            KustomizeError: when one of them is nothing that JSON can have.
        """
        return "---\n".join(resource.as_yaml() for resource in self.resources)

    def as_files(self) -> list[tuple[str, str]]:
        """Return them as files by name, one each; raises as `as_yaml`."""
        namespaces = {one.id.effective_namespace for one in self.resources if not one.gvk.is_cluster_wide}
        found = []
        for one in self.resources:
            gvk = one.gvk
            name = "_".join(part for part in (gvk.group, gvk.version, gvk.kind) if part).lower()
            name = f"{name}_{one.name.lower()}.yaml"
            if len(namespaces) > 1 and not gvk.is_cluster_wide:
                name = f"{one.id.effective_namespace.lower()}_{name}"
            found.append((name, one.as_yaml()))
        return found


def build(
    files: Files,
    directory: str,
    warn: Callable[[str], None],
    log: Callable[[str], None],
    *,
    options: Options = DEFAULT,
) -> Built:
    """Build the kustomization of a directory; `warn` prints a line to standard error, `log` writes one to the log.

    Raises:
        KustomizeError: when it cannot be built.
    """
    target = Target(first_loader(files, directory, is_restricted=options.is_restricted), warn)
    found = target.gather(Gathered())
    resources = found.resources
    add_hashes(resources.resources)
    fix_references(resources.resources, found.config.references)
    unused = resolve(resources, found.variables, found.config)
    if unused:
        log(f"well-defined vars that were never replaced: {','.join(unused)}")
    kept = ResMap()
    for resource in resources.resources:
        check_metadata(resource.tree)
        if resource.annotations.get(LOCAL, "false") == "false":
            kept.append(resource)
    order = target.fields.get("sortOptions")
    if order is not None and options.reorder:
        log(_ORDERED_TWICE)
    if order is not None or options.reorder != "none":
        kept.resources = ordered(kept.resources, order)
    metadata = target.fields.get("buildMetadata") or []
    if options.is_labelled or "managedByLabel" in metadata:
        add_pairs(kept, {_MANAGED_BY: _VERSION}, [FieldSpec("metadata/labels", creates=True)])
    for resource in kept.resources:
        resource.forget()
        if "originAnnotations" not in metadata:
            resource.drop_annotation(ORIGIN)
        if "transformerAnnotations" not in metadata:
            resource.drop_annotation(TRANSFORMATIONS)
    return Built(tuple(kept.resources))
