"""Kustomizations by chance: directories of files that use most fields, right and a little wrong.

The same seed gives the same directories.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from env_core.objects.yamlout import to_yaml
from tests.kubectl.kustomize.objects import Objects

Tree = dict[str, str]
_NAMES = ("web", "api", "db", "cache")


def trees(seed: int, count: int) -> Iterator[Tree]:
    """Return directories, each as files by path; the kustomization to build is at the top or in `overlay`."""
    for index in range(count):
        yield _Maker(random.Random(f"{seed}-{index}")).tree()


class _Maker(Objects):
    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.files: Tree = {}

    def tree(self) -> Tree:
        """Return one directory: alone, with a base, or with a base and a component."""
        shape = self.rng.choice(("alone", "alone", "base", "base", "component"))
        if shape == "alone":
            self.kustomization("", self.resources(""))
            return self.files
        self.kustomization("base/", self.resources("base/"))
        base = list(self.names)
        fields: dict[str, Any] = {"resources": ["../base"]}
        if shape == "component":
            self.kustomization(
                "part/", {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}, few=True
            )
            fields["components"] = ["../part"]
        self.names = base
        self.kustomization("overlay/", fields)
        return self.files

    def resources(self, where: str) -> dict[str, Any]:
        """Write resources, and return the fields that name them."""
        objects = []
        for name in self.rng.sample(_NAMES, self.rng.randint(1, 3)):
            objects.extend(self.app(name))
        if self.maybe(0.3):
            objects.extend(self.rbac())
        if self.maybe(0.2):
            objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        if self.maybe(0.2):
            objects.append(
                {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
                 "spec": {"image": "nginx", "parts": [{"name": "a", "size": 1}, {"name": "b"}]}}
            )  # fmt: skip
        half = len(objects) // 2 if self.maybe() else len(objects)
        paths = []
        for index, part in enumerate((objects[:half], objects[half:])):
            if part:
                path = f"part{index}.yaml"
                self.files[where + path] = "---\n".join(to_yaml(obj) for obj in part)
                paths.append(path)
        return {"resources": paths}

    def kustomization(self, where: str, fields: dict[str, Any], *, few: bool = False) -> None:
        """Write a kustomization with some of everything."""
        chance = 0.15 if few else 0.3
        rng = self.rng
        if self.maybe(chance):
            fields["namePrefix"] = rng.choice(("dev-", "p"))
        if self.maybe(chance * 0.7):
            fields["nameSuffix"] = rng.choice(("-v2", "-x"))
        if self.maybe(chance):
            fields["namespace"] = rng.choice(("shop", "prod"))
        if self.maybe(chance):
            fields["commonLabels"] = {"team": "blue", "env": "prod"}
        if self.maybe(chance):
            label: dict[str, Any] = {"pairs": {"owner": "me", "app.kubernetes.io/part-of": "shop"}}
            flag = rng.choice(("includeSelectors", "includeTemplates", ""))
            if flag:
                label[flag] = True
            if self.maybe(0.1):
                label["fields"] = [{"path": "spec/extra", "create": True, "kind": "Widget"}]
            fields["labels"] = [label]
        if self.maybe(chance):
            fields["commonAnnotations"] = {"contact": "a@b.c", "number": "12"}
        if self.maybe(chance):
            fields["images"] = [self.image() for _ in range(rng.randint(1, 2))]
        if self.maybe(chance) and self.names:
            fields["replicas"] = [{"name": rng.choice(self.names)[1], "count": rng.randint(0, 9)}]
        if self.maybe(chance):
            self.generators(where, fields)
        if self.maybe(chance + 0.1) and self.names:
            fields["patches"] = [self.patch(where) for _ in range(rng.randint(1, 2))]
        if self.maybe(chance * 0.5) and self.names:
            fields["patchesStrategicMerge"] = [self.strategic_text()]
        if self.maybe(chance * 0.3) and self.names:
            kind, name = rng.choice(self.names)
            target = {"kind": kind, "name": name, "version": "v1"}
            fields["patchesJson6902"] = [{"target": target, "patch": json.dumps(self.operations())}]
        if self.maybe(chance * 0.5) and self.names:
            fields["replacements"] = [self.replacement()]
        if self.maybe(0.1):
            fields["sortOptions"] = {"order": rng.choice(("fifo", "legacy"))}
        if self.maybe(0.05):
            fields["buildMetadata"] = ["managedByLabel"]
        self.files[where + "kustomization.yaml"] = to_yaml(fields)

    def image(self) -> dict[str, str]:
        """Return an entry of `images`."""
        rng = self.rng
        image = {"name": rng.choice(("nginx", "redis", "busybox", "registry.example.com:5000/shop/api"))}
        more = (("newName", "mirror/x"), ("newTag", "v9"), ("digest", "sha256:123"))
        return image | {field: value for field, value in more if self.maybe(0.5)}

    def generators(self, where: str, fields: dict[str, Any]) -> None:
        """Write generators and their files."""
        rng = self.rng
        args: dict[str, Any] = {
            "name": rng.choice(("gen-config", "web-config")),
            "literals": ["k=v", "q='w x'"],
        }
        if self.maybe():
            args["files"] = ["app.conf", "other=app.conf"]
            self.files[where + "app.conf"] = "listen 80\n# end\n"
        if self.maybe():
            args["envs"] = ["app.env"]
            self.files[where + "app.env"] = "# comment\nE1=one\nE2=a=b\nEMPTY\n\n"
        if self.maybe(0.2):
            args["behavior"] = rng.choice(("merge", "replace", "create"))
        if self.maybe(0.2):
            args["options"] = {"labels": {"g": "h"}, "disableNameSuffixHash": self.maybe(0.5)}
        fields["configMapGenerator"] = [args]
        if self.maybe(0.6):
            secret = {"name": "gen-secret", "literals": ["password=hunter2", "long=" + "x" * 90]}
            if self.maybe():
                secret["type"] = "kubernetes.io/tls"
            fields["secretGenerator"] = [secret]
        if self.maybe(0.3):
            fields["generatorOptions"] = {
                "labels": {"made": "yes"}, "annotations": {"by": "gen"}, "immutable": self.maybe(0.5),
                "disableNameSuffixHash": self.maybe(0.3),
            }  # fmt: skip

    def strategic_text(self) -> str:
        """Return a patch of some object, as YAML."""
        kind, name = self.rng.choice(self.names)
        return to_yaml(self.strategic(kind, name))

    def strategic(self, kind: str, name: str) -> dict[str, Any]:
        """Return a strategic merge patch."""
        rng = self.rng
        group = {"Service": "v1", "ConfigMap": "v1", "Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
        patch: dict[str, Any] = {
            "apiVersion": group.get(kind, "apps/v1"), "kind": kind, "metadata": {"name": name},
        }  # fmt: skip
        if self.maybe(0.08):
            return {**patch, "$patch": "delete"}
        if self.maybe():
            patch["metadata"]["annotations"] = {"patched": "yes", "note": None}
        if self.maybe(0.2):
            patch["metadata"]["labels"] = {"app": None, "new": "label"}
        if kind == "Service":
            patch["spec"] = {
                "type": "NodePort",
                "ports": [{"port": 80, "nodePort": 30080}, {"port": 9000, "name": "m"}],
            }
        elif kind == "ConfigMap":
            patch["data"] = {"a": None, "c": "d"}
        else:
            container: dict[str, Any] = {"name": rng.choice(("main", "main", "side", "extra"))}
            choices: list[tuple[str, Any]] = [
                ("image", "patched:1"),
                ("env", [{"name": "A", "value": "9"}, {"name": "Z", "value": "z"}]),
                ("env", [{"name": "B", "$patch": "delete"}]),
                ("env", [{"$patch": "replace"}, {"name": "ONLY", "value": "x"}]),
                ("ports", [{"containerPort": 9090}, {"containerPort": 8080, "name": "http"}]),
                ("ports", [{"containerPort": 8080, "protocol": "TCP", "name": "http"}]),
                ("args", ["new"]),
                ("resources", {"limits": {"cpu": "1"}}),
                ("envFrom", [{"secretRef": {"name": "gen-secret"}}]),
                ("$patch", "delete"),
            ]
            container |= dict(rng.sample(choices, rng.randint(1, 3)))
            spec: dict[str, Any] = {"containers": [container]}
            if self.maybe(0.2):
                spec["volumes"] = [
                    {"name": "v", "emptyDir": {}, "configMap": None},
                    {"name": "new", "emptyDir": {}},
                ]
            if self.maybe(0.2):
                spec["tolerations"] = [{"key": "b"}]
            template = {"template": {"spec": spec}}
            if kind == "Pod":
                patch["spec"] = spec
            elif kind == "CronJob":
                patch["spec"] = {"jobTemplate": {"spec": template}}
            else:
                patch["spec"] = template
                if self.maybe():
                    patch["spec"]["replicas"] = 5
        return patch

    def operations(self) -> list[dict[str, Any]]:
        """Return the operations of a JSON patch."""
        choices: list[dict[str, Any]] = [
            {"op": "add", "path": "/metadata/labels", "value": {"by": "json"}},
            {"op": "add", "path": "/metadata/annotations/x~1y", "value": "1"},
            {"op": "replace", "path": "/metadata/name", "value": "renamed"},
            {"op": "remove", "path": "/spec"},
            {
                "op": "add",
                "path": "/spec/template/spec/containers/-",
                "value": {"name": "j", "image": "nginx"},
            },
            {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "json:1"},
            {"op": "test", "path": "/kind", "value": "Deployment"},
            {"op": "remove", "path": "/spec/nothing"},
            {"op": "copy", "from": "/metadata/name", "path": "/metadata/generateName"},
            {"op": "nope", "path": "/x"},
        ]
        return self.rng.sample(choices[: self.rng.choice((1, 1, 6, 10))], 1)

    def patch(self, where: str) -> dict[str, Any]:
        """Return an entry of `patches`."""
        rng = self.rng
        kind, name = rng.choice(self.names)
        entry: dict[str, Any] = {}
        if self.maybe():
            targets: list[dict[str, Any]] = [
                {"kind": kind},
                {"kind": kind, "name": name},
                {"name": f"{name}.*"},
                {"labelSelector": "app"},
                {"kind": "Deployment|StatefulSet"},
                {"annotationSelector": "note=1"},
                {"group": "apps", "version": "v1"},
                {"namespace": "shop"},
            ]
            entry["target"] = rng.choice(targets)
            if self.maybe(0.5):
                entry["patch"] = (
                    to_yaml(self.operations()) if self.maybe(0.5) else json.dumps(self.operations())
                )
            else:
                entry["patch"] = to_yaml(self.strategic(kind, "any"))
        elif self.maybe():
            path = f"patch-{rng.randint(0, 99)}.yaml"
            self.files[where + path] = to_yaml(self.strategic(kind, name))
            entry["path"] = path
        else:
            entry["patch"] = to_yaml(self.strategic(kind, name))
        if self.maybe(0.1):
            entry["options"] = {"allowNameChange": True}
        return entry

    def replacement(self) -> dict[str, Any]:
        """Return an entry of `replacements`."""
        rng = self.rng
        kind, name = rng.choice(self.names)
        source: dict[str, Any] = {"kind": kind, "name": name}
        if self.maybe():
            source["fieldPath"] = rng.choice(
                ("metadata.name", "spec.replicas", "metadata.labels.app", "spec.nope")
            )
        paths = (
            "spec.template.spec.containers.0.image",
            "spec.template.spec.containers.[name=main].image",
            "spec.template.spec.containers.*.image",
            "metadata.annotations.copied",
            "metadata.labels.[a.b/c]",
            "spec.replicas",
        )
        target: dict[str, Any] = {
            "select": {"kind": rng.choice(("Deployment", "StatefulSet", "Service"))},
            "fieldPaths": [rng.choice(paths)],
        }
        if self.maybe(0.5):
            target["options"] = rng.choice(
                (
                    {"create": True},
                    {"delimiter": ":", "index": 1},
                    {"delimiter": "/", "index": 0, "create": True},
                )
            )
        if self.maybe(0.2):
            target["reject"] = [{"name": name}]
        return {"source": source, "targets": [target]}
