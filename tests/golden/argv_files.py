"""The files in the directory where generated command lines run: manifests of a world's own objects, right and wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from env_core.objects.yamlout import to_yaml

Object = dict[str, Any]
_KINDS = ("deployments", "services", "configmaps", "pods", "statefulsets", "jobs", "serviceaccounts", "secrets")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

WRONG: Mapping[str, str] = {
    "wrong-syntax.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n data: {}\n",
    "wrong-json.json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}',
    "wrong-tab.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: x\n",
    "wrong-kind.yaml": "apiVersion: v1\nkind: Nope\nmetadata:\n  name: x\n",
    "wrong-version.yaml": "apiVersion: apps/v9\nkind: Deployment\nmetadata:\n  name: x\n",
    "wrong-old.yaml": "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata:\n  name: x\n",
    "wrong-nokind.yaml": "apiVersion: v1\nmetadata:\n  name: x\n",
    "wrong-noversion.yaml": "kind: Pod\nmetadata:\n  name: x\n",
    "wrong-nov-list.yaml": "kind: List\nitems:\n- kind: Pod\n  metadata: {name: x}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: two}\n",
    "wrong-nov-foo.yaml": "kind: Foo\nmetadata:\n  name: x\n",
    "wrong-nov-mixed.yaml": (
        "kind: Pod\nmetadata:\n  name: x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: two\n---\nkind: Foo\nmetadata:\n  name: z\n"
    ),
    "wrong-nov-scale.yaml": "apiVersion: autoscaling/v1\nkind: Scale\nmetadata:\n  name: web\nspec:\n  replicas: 2\n",
    "wrong-noname.yaml": "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n",
    "wrong-field.yaml": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  replica: 2\n"
        "  selector:\n    matchLabels: {app: x}\n  template:\n    metadata:\n      labels: {app: x}\n"
        "    spec:\n      containers:\n      - name: c\n        image: nginx\n        command: nginx\n"
    ),
    "wrong-type.yaml": (
        'apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n  containers:\n  - name: c\n    image: nginx\n'
        '    ports:\n    - containerPort: "80"\n'
    ),
    "wrong-invalid.yaml": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: Bad_Name\nspec:\n"
        "  selector:\n    matchLabels: {app: x}\n  template:\n    metadata:\n      labels: {app: y}\n"
        "    spec:\n      containers: []\n"
    ),
    "wrong-empty.yaml": "",
    "wrong-comment.yaml": "# nothing\n---\n",
}  # fmt: skip
NEW: Mapping[str, str] = {
    "new-cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fresh\ndata:\n  a: b\n",
    "new-several.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n---\n"
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: two\nspec:\n  selector: {app: x}\n  ports:\n  - port: 80\n"
    ),
    "new-list.json": json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [
                {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s1"}, "stringData": {"a": "b"}},
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}},
            ],
        }
    ),
    "new-role.yaml": (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: reader\nrules:\n"
        '- apiGroups: [""]\n  resources: [pods]\n  verbs: [get, list]\n'
    ),
    "new-deploy.yaml": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: fresh\n  labels: {app: fresh}\nspec:\n  replicas: 2\n"
        "  selector:\n    matchLabels: {app: fresh}\n  template:\n    metadata:\n      labels: {app: fresh}\n"
        "    spec:\n      containers:\n      - name: c\n        image: nginx:1.28\n        resources:\n"
        "          requests: {cpu: 100m, memory: 64Mi}\n          limits: {memory: 128Mi}\n"
    ),
    "custom.yaml": "env:\n- {name: X, value: why}\nresources: {limits: {cpu: 100m}}\nsecurityContext: {runAsUser: 0}\n",
    "custom.json": '{"tty": true, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}',
    "custom-bad.yaml": "image: other\n",
    "custom-wrong.yaml": "env: {a: b}\n",
    "custom-text.yaml": "just text\n",
    "new-elsewhere.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: far\n  namespace: default\n",
}  # fmt: skip

KUSTOMIZATIONS: Mapping[str, str] = {
    "kz-new/kustomization.yaml": (
        "namePrefix: kz-\nresources: [deploy.yaml, several.yaml]\nlabels: [{pairs: {team: blue}, includeSelectors: true}]\n"
        "configMapGenerator: [{name: settings, literals: [a=b]}]\nimages: [{name: nginx, newTag: '1.29'}]\n"
        "patches:\n- target: {kind: Deployment}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 3}]'\n"
    ),
    "kz-new/deploy.yaml": NEW["new-deploy.yaml"],
    "kz-new/several.yaml": NEW["new-several.yaml"],
    "kz-own/kustomization.yaml": "resources: [own.yaml]\ncommonAnnotations: {built: 'yes'}\n",
    "kz-wrong/kustomization.yaml": "resources: [missing.yaml]\n",
    "kz-empty/other.txt": "nothing\n",
}  # fmt: skip


def files_of(state: Mapping[str, Sequence[Object]], namespace: str) -> dict[str, str]:
    """Return the files by name: `own-*` as the world has objects, `changed-*` of them, `new-*` and `wrong-*`."""
    files: dict[str, str] = {}
    for plural in _KINDS:
        rows = [row for row in state.get(plural, ()) if row["metadata"].get("namespace") == namespace]
        if not rows:
            continue
        plain = _as_written(rows[0])
        files[f"own-{plural}.yaml"] = to_yaml(plain)
        changed = {**plain, "metadata": {**plain["metadata"], "labels": {"changed": "yes"}}}
        files[f"changed-{plural}.yaml"] = to_yaml(changed)
        files[f"changed-{plural}.json"] = json.dumps(changed)
    own = [text for name, text in files.items() if name.startswith("own-") and name.endswith("s.yaml")]
    files["kz-own/own.yaml"] = "---\n".join(own[:3]) or NEW["new-cm.yaml"]
    return {**files, **NEW, **WRONG, **KUSTOMIZATIONS}


def _as_written(obj: Object) -> Object:
    """Return an object as its author wrote it: what apply keeps of it, else without what servers fill in."""
    applied = (obj["metadata"].get("annotations") or {}).get(_APPLIED)
    if applied is not None:
        found: Object = json.loads(applied)
        return found
    kept = {key: value for key, value in obj.items() if key != "status"}
    metadata = {
        key: value for key, value in obj["metadata"].items() if key in ("name", "namespace", "labels")
    }
    return {**kept, "metadata": metadata}
