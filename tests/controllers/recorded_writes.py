"""A step's writes, made again from its command line or from the difference between the states before and after it."""

from urllib.parse import parse_qsl

import yaml

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Options
from tests.controllers.world import registry
from tests.controllers.writing import (
    OWN_ANNOTATIONS,
    creation_order,
    is_made_by_controllers,
    is_owned,
    written,
)

RESOURCES = {kind.plural: kind for kind in reversed(registry().kinds)}


class RecordedWrites:
    """The part of a replay that writes as a recorded step did."""

    def _call(self, step):
        parts = step["path"].split("?")[0].strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 2:
            namespace, parts = parts[1], parts[2:]
        resource = RESOURCES[parts[0]].resource
        name = parts[1] if len(parts) > 1 else ""
        subresource = parts[2] if len(parts) > 2 else ""
        verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}[
            step["method"]
        ]
        body = step.get("body")
        query = dict(parse_qsl(step["path"].partition("?")[2]))
        options = Options(field_manager=query.get("fieldManager", ""), force=query.get("force") == "true")
        if verb == "delete" and isinstance(body, dict):
            options = Options(
                grace_period_seconds=body.get("gracePeriodSeconds"),
                propagation_policy=body.get("propagationPolicy") or "",
            )
            body = None
        self.recorder.call(
            verb,
            resource,
            namespace,
            name,
            subresource=subresource,
            body=body,
            content_type=step.get("ctype") or "",
            options=options,
        )

    def _delete(self, argv, recorded):
        words = [word for word in argv[1:] if not word.startswith("-")]
        flags = dict(word.lstrip("-").partition("=")[::2] for word in argv[1:] if word.startswith("--"))
        for index, word in enumerate(argv):
            if word in ("-l", "-f", "-n", "--field-selector"):
                flags[word] = argv[index + 1]
                words = [each for each in words if each != argv[index + 1]]
        if "-f" in flags or not words:
            return False
        policy = {"orphan": "Orphan", "foreground": "Foreground"}.get(flags.get("cascade", ""), "Background")
        grace = flags.get("grace-period")
        grace = int(grace) if grace else (0 if "force" in flags else (1 if "now" in flags else None))
        options = Options(propagation_policy=policy, grace_period_seconds=grace)
        targets = []
        if "/" in words[0]:
            targets = [word.split("/", 1) for word in words]
        elif len(words) > 1:
            targets = [(words[0], name) for name in words[1:]]
        elif "-l" in flags or "--field-selector" in flags or "field-selector" in flags or "all" in flags:
            for plural in words[0].split(","):
                kind = registry().find(plural)
                found = self.world.api.list(
                    kind.resource,
                    self.namespace,
                    label_selector=flags.get("-l", ""),
                    field_selector=flags.get("--field-selector", flags.get("field-selector", "")),
                )
                targets += [(plural, obj["metadata"]["name"]) for obj in found]
        for word, name in targets:
            kind = registry().find(word)
            namespace = self.namespace if kind.is_namespaced else ""
            try:
                self.world.api.delete(kind.resource, namespace, name, options)
            except StatusError as error:
                if error.code != 404:
                    raise
        return True

    def _change(self, argv):
        if any(word in ("-l", "--all", "-f") or "dry-run" in word or "server-side" in word for word in argv):
            return False
        words, skip = [], False
        for word in argv[1:]:
            if skip:
                skip = False
            elif word in ("-p", "-n", "--type", "--subresource", "--patch", "-o"):
                skip = True
            elif not word.startswith("-"):
                words.append(word)
        if words and "/" in words[0]:
            words = [*words[0].split("/", 1), *words[1:]]
        kind = registry().find(words[0]) if words else None
        if kind is None or len(words) < 2:
            return False
        namespace, name = self.namespace if kind.is_namespaced else "", words[1]
        if argv[0] == "scale":
            replicas = next(int(word.split("=")[1]) for word in argv if word.startswith("--replicas="))
            self.world.api.patch(
                kind.resource, namespace, name, {"spec": {"replicas": replicas}}, subresource="scale"
            )
            return True
        if argv[0] == "patch":
            text = next((argv[i + 1] for i, word in enumerate(argv) if word in ("-p", "--patch")), None)
            if text is None:
                return False
            type_ = next((word.split("=")[1] for word in argv if word.startswith("--type=")), "strategic")
            subresource = next((word.split("=")[1] for word in argv if word.startswith("--subresource=")), "")
            content = {"strategic": STRATEGIC_PATCH, "merge": MERGE_PATCH, "json": JSON_PATCH}[type_]
            self.world.api.patch(
                kind.resource, namespace, name, yaml.safe_load(text), content, subresource=subresource
            )
            return True
        field = "labels" if argv[0] == "label" else "annotations"
        changes = {}
        for word in words[2:]:
            if word.endswith("-") and "=" not in word:
                changes[word[:-1]] = None
            elif "=" not in word:
                return False
            else:
                key, _, value = word.partition("=")
                changes[key] = value
        self.world.api.patch(kind.resource, namespace, name, {"metadata": {field: changes}})
        return True

    # Deriving writes from recorded states

    def _apply_difference(self, recorded):
        rows = [
            *recorded.get("horizontalpodautoscalers", ()),
            *self.before.get("horizontalpodautoscalers", ()),
        ]
        autoscaled = {row["spec"]["scaleTargetRef"]["name"] for row in rows}
        for plural in sorted({*recorded, *self.before}, key=creation_order):
            if plural in ("controllerrevisions", "events"):
                continue
            kind = RESOURCES.get(plural)
            if kind is None:
                continue
            old = {obj["metadata"]["name"]: obj for obj in self.before.get(plural, ())}
            new = {obj["metadata"]["name"]: obj for obj in recorded.get(plural, ())}
            for name in sorted({*old, *new}):
                after = new.get(name)
                if is_made_by_controllers(after or old[name], recorded):
                    continue
                if name in autoscaled and after and "replicas" in after.get("spec", {}) and old.get(name):
                    # Not the user's: what the autoscaler has asked for.
                    spec = {**after["spec"], "replicas": old[name]["spec"]["replicas"]}
                    after = {**after, "spec": spec}
                self._apply_object(kind, old.get(name), after)

    def _apply_object(self, kind, old, new):
        namespace = self.namespace if kind.is_namespaced else ""
        either = new or old
        name = either["metadata"]["name"]
        if kind.plural == "pods" and old is not None and new is not None and not is_owned(old):
            # A shared field may also have been changed by controllers; only labels are the user's.
            if old["metadata"].get("labels") != new["metadata"].get("labels"):
                patch = {"metadata": {"labels": new["metadata"].get("labels")}}
                self.world.api.patch(kind.resource, namespace, name, patch)
            return
        if is_owned(either) or "endpoints.kubernetes.io/managed-by" in (
            either["metadata"].get("labels") or {}
        ):
            return
        if kind.plural in ("nodes", "namespaces"):
            if kind.plural == "nodes" and new:
                self._apply_node(old or self.world.store.get("nodes", "", name) or new, new)
            return
        if new is None:
            try:
                self.world.api.delete(
                    kind.resource, namespace, name, Options(propagation_policy="Background")
                )
            except StatusError as error:
                if error.code != 404:
                    raise
            return
        if old is None or old["metadata"]["uid"] != new["metadata"]["uid"]:
            if old is not None:
                self.world.api.delete(
                    kind.resource, namespace, name, Options(propagation_policy="Background")
                )
            if self.world.store.get(kind.resource, namespace, name) is None:
                self.world.api.create(kind.resource, namespace, written(new, self.world.store))
            return
        before, after = written(old, self.world.store), written(new, self.world.store)
        if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]:
            self.world.api.delete(kind.resource, namespace, name, Options(propagation_policy="Background"))
            return
        if before == after:
            return
        current = self.world.store.get(kind.resource, namespace, name)
        if current is None:
            return
        kept = {
            key: value
            for key, value in (current["metadata"].get("annotations") or {}).items()
            if key in OWN_ANNOTATIONS
        }
        metadata = {
            **{
                key: value
                for key, value in current["metadata"].items()
                if key not in ("labels", "annotations", "finalizers")
            },
            **{
                key: value
                for key, value in after["metadata"].items()
                if key in ("labels", "finalizers", "ownerReferences")
            },
            "annotations": {**(after["metadata"].get("annotations") or {}), **kept},
        }
        self.world.api.update(kind.resource, namespace, {**current, **after, "metadata": metadata})

    def _apply_node(self, old, new):
        def users(node):
            return [
                taint
                for taint in node["spec"].get("taints") or ()
                if not taint["key"].startswith("node.kubernetes.io/")
            ]

        name = new["metadata"]["name"]
        current = self.world.store.get("nodes", "", name)
        if current is None:
            return
        spec = dict(current["spec"])
        if users(old) != users(new):
            own = [
                taint for taint in spec.get("taints") or () if taint["key"].startswith("node.kubernetes.io/")
            ]
            spec["taints"] = [*own, *users(new)]
        if old["spec"].get("unschedulable") != new["spec"].get("unschedulable"):
            spec["unschedulable"] = bool(new["spec"].get("unschedulable"))
        if spec != current["spec"]:
            self.world.api.update("nodes", "", {**current, "spec": spec})
