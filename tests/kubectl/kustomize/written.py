"""Kustomizations that somebody wrote: fields in all their forms, and the usual mistakes."""

from __future__ import annotations

Tree = dict[str, str]

_DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx:1.25
        env: [{name: A, value: "1"}]
        ports: [{containerPort: 80}]
"""
_SERVICE = """apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""
_CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg}\ndata: {a: b}\n"
_BASE = {"d.yaml": _DEPLOYMENT, "s.yaml": _SERVICE, "c.yaml": _CONFIG}

FIELDS = (
    "",
    "# nothing",
    "foo: bar",
    "resources: a",
    "resources: [1]",
    "resources: [{a: b}]",
    "resources: null",
    "resources: [null]",
    "resources: ['']",
    "resources: [nope.yaml]",
    "resources: [nope/deep.yaml]",
    "resources: [d.yaml, d.yaml]",
    "resources: [d.yaml/x]",
    "resources: [.]",
    "resources: [..]",
    "resources: [/nothing.yaml]",
    "resources: [../other.yaml]",
    "resources: [d.yaml, s.yaml, c.yaml]",
    "bases: [d.yaml]",
    "namePrefix: 1",
    "namePrefix: [a]",
    "images: {name: x}",
    "images: [{name: x, tag: '1'}]",
    "images: [{name: x, newTag: 1}]",
    "replicas: [{name: x, count: '3'}]",
    "replicas: [{name: x, count: 3.5}]",
    "resources: [d.yaml]\nreplicas: [{name: x, count: 3}]",
    "resources: [d.yaml]\nreplicas: [{name: web, count: 3}]",
    "resources: [d.yaml]\nreplicas: [{name: web}]",
    "kind: Foo",
    "kind: Foo\napiVersion: v1\nnamePrefix: x",
    "kind: Component\nnamePrefix: x",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization",
    "- a",
    "text",
    "a: [b",
    "\ta: b",
    "resources:\n- d.yaml\n foo: x",
    "patches: [{target: {kind: [a]}}]",
    "patches: [{target: x}]",
    "patches: [{}]",
    "patches: [{path: nope.yaml}]",
    "patches: [{path: d.yaml, patch: 'a: b'}]",
    "patches: [{patch: 'a: b'}]",
    "patches: [{patch: 'nonsense'}]",
    "patches: [{patch: '[]'}]",
    'resources: [d.yaml]\npatches: [{patch: \'[{"op": "add", "path": "/a", "value": 1}]\'}]',
    'resources: [d.yaml]\npatches: [{target: {kind: Deployment}, patch: \'[{"op": "add", "path": "/a/b", "value": 1}]\'}]',
    'resources: [d.yaml]\npatches: [{target: {kind: \'(\'}, patch: \'[{"op": "add", "path": "/a", "value": 1}]\'}]',
    'resources: [d.yaml]\npatches: [{target: {labelSelector: \'a==\'}, patch: \'[{"op": "add", "path": "/a", "value": 1}]\'}]',
    'resources: [d.yaml]\npatches: [{target: {labelSelector: \'a in b\'}, patch: \'[{"op": "add", "path": "/a", "value": 1}]\'}]',
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: other}\n    spec: {replicas: 2}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    $patch: delete",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {template: {spec: {containers: {a: b}}}}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {template: x}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {$patch: zap}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {$patch: replace, replicas: 3}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: new}\n  target: {name: web}\n  options: {allowNameChange: true}",
    "resources: [d.yaml, s.yaml]\npatches:\n- patch: |-\n    kind: Any\n    metadata: {name: new, labels: {a: b}}\n  target: {name: web}",
    "resources: [d.yaml]\npatches:\n- patch: |-\n    kind: A\n    metadata: {name: x}\n    ---\n    kind: B\n    metadata: {name: y}\n  target: {name: web}",
    "resources: [d.yaml]\npatchesStrategicMerge: [nope.yaml]",
    "resources: [d.yaml]\npatchesStrategicMerge: ['']",
    "resources: [d.yaml]\npatchesStrategicMerge: [d.yaml]",
    "resources: [d.yaml]\npatchesStrategicMerge: [s.yaml]",
    "patchesStrategicMerge: {a: b}",
    "resources: [d.yaml]\npatchesJson6902: [{target: {kind: Deployment, name: web}}]",
    "resources: [d.yaml]\npatchesJson6902: [{target: {kind: Deployment, name: web}, patch: 'a: b'}]",
    "resources: [d.yaml]\npatchesJson6902: [{target: {kind: Deployment, name: web}, path: nope.json}]",
    'resources: [d.yaml]\npatchesJson6902: [{target: {kind: Deployment, name: nope}, patch: \'[{"op": "remove", "path": "/spec"}]\'}]',
    "labels: [{pairs: {a: 1}}]",
    "resources: [d.yaml, s.yaml]\nlabels: [{pairs: {a: b}, includeSelectors: true}]",
    "resources: [d.yaml, s.yaml]\nlabels: [{pairs: {a: b}, fields: [{path: spec/x, create: true}]}]",
    "resources: [d.yaml, s.yaml]\nlabels: [{pairs: {a: b}, includeSelectors: true, fields: [{path: metadata/labels, create: false}]}]",
    "resources: [s.yaml]\nlabels: [{pairs: {a: b}, fields: [{path: spec/selector/app}]}]",
    "resources: [d.yaml]\ncommonLabels: {a: true}",
    "resources: [d.yaml, s.yaml, c.yaml]\ncommonLabels: {a: b}\ncommonAnnotations: {c: d}",
    "generatorOptions: {disableNameSuffixHash: 'true'}",
    "configMapGenerator: [{literals: [a=b]}]",
    "configMapGenerator: [{name: a, literals: a=b}]",
    "configMapGenerator: [{name: a, literals: [ab]}]",
    "configMapGenerator: [{name: a, literals: ['=b']}]",
    "configMapGenerator: [{name: a, literals: [a=b, a=c]}]",
    "configMapGenerator: [{name: a, files: [nope]}]",
    "configMapGenerator: [{name: a, files: ['=c.yaml']}]",
    "configMapGenerator: [{name: a, files: ['x=']}]",
    "configMapGenerator: [{name: a, files: ['x=y=z']}]",
    "configMapGenerator: [{name: a, files: [d.yaml, other.txt=c.yaml]}]",
    "configMapGenerator: [{name: a, envs: [nope.env]}]",
    "configMapGenerator: [{name: a, env: c.yaml}]",
    "configMapGenerator: [{name: a}]",
    "configMapGenerator: [{name: a}, {name: a}]",
    "configMapGenerator: [{name: a, behavior: merge}]",
    "configMapGenerator: [{name: a, namespace: x, literals: ['k=\"v\"']}]\nnamespace: y",
    "resources: [c.yaml]\nconfigMapGenerator: [{name: cfg, behavior: merge, literals: [x=y]}]",
    "resources: [c.yaml]\nconfigMapGenerator: [{name: cfg, behavior: replace, literals: [x=y]}]",
    "resources: [c.yaml]\nconfigMapGenerator: [{name: cfg, behavior: create, literals: [x=y]}]",
    "secretGenerator: [{literals: [a=b]}]",
    "secretGenerator: [{name: a, type: t, literals: [a=b]}]\ngeneratorOptions: {immutable: true, labels: {l: m}}",
    "secretGenerator: [{name: a, options: {disableNameSuffixHash: true, labels: {x: y}}}]\ngeneratorOptions: {labels: {x: z, w: v}}",
    "resources: [d.yaml]\nnamespace: x\nnamePrefix: a-\nnameSuffix: -z",
    "RESOURCES: [d.yaml]\nnamesuffix: x",
    "resources: [d.yaml]\nnamespace: a\nnamespace: b",
    "vars: [{name: X, objref: {kind: A}}]",
    "resources: [d.yaml, s.yaml]\nvars: [{name: S, objref: {kind: Service, name: web, apiVersion: v1}}]",
    "resources: [d.yaml]\nvars: [{name: S, objref: {kind: Deployment, name: web, apiVersion: apps/v1}, fieldref: {fieldPath: spec.replicas}}]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {template: {spec: {containers: [{name: main, args: ['$(S)', 'n=$(S)', '$$(S)', '$(T)', '$x', '$(']}]}}}",
    "helmCharts: [{name: x}]",
    "sortOptions: {order: foo}",
    "resources: [d.yaml]\nsortOptions: {order: fifo, legacySortOptions: {orderFirst: [A]}}",
    "resources: [d.yaml, c.yaml, s.yaml]\nsortOptions: {order: fifo}",
    "resources: [d.yaml, c.yaml, s.yaml]\nsortOptions: {order: legacy, legacySortOptions: {orderFirst: [Service], orderLast: [ConfigMap]}}",
    "components: [x]",
    "components: [sub]",
    "resources: [sub]",
    "resources: [d.yaml]\ncomponents: [part]",
    "resources: [part]",
    "crds: [x]",
    "openapi: {path: x}",
    "transformers: [x]",
    "generators: [x]",
    "validators: [x]",
    "configurations: [x]",
    "resources: [d.yaml]\nconfigurations: [conf.yaml]\nnamePrefix: p-",
    "buildMetadata: [managedByLabel]\nresources: [d.yaml]",
    "metadata: {name: x, labels: {a: b}}\nresources: [c.yaml]",
    "metadata: {labels: {a: 1}}",
    "replacements: [{}]",
    "replacements: [{source: {kind: A}, targets: [{select: {name: x}}]}]",
    "resources: [d.yaml, s.yaml]\nreplacements: [{source: {name: web}, targets: [{select: {name: x}}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment, fieldPath: spec.nope}, targets: [{select: {name: x}}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment}, targets: [{fieldPaths: [a]}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.nope]}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.nope.deep], options: {create: true}}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: ':', index: 1}}, targets: [{select: {kind: Deployment}, fieldPaths: ['spec.template.spec.containers.[name=main].env.[name=A].value']}]}]",
    "resources: [d.yaml]\nreplacements: [{source: {kind: Deployment, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: ':', index: 5}}, targets: [{select: {kind: Deployment}}]}]",
    "resources: [d.yaml]\nreplacements: [{sourceValue: hello, targets: [{select: {kind: Deployment}, fieldPaths: [metadata.annotations.x], options: {create: true}}]}]",
    "resources: [d.yaml]\nreplacements: [{path: nope.yaml}]",
    "resources: [d.yaml]\nreplacements: [{path: r.yaml}]",
    "resources: [bad-nokind.yaml]",
    "resources: [bad-noname.yaml]",
    "resources: [bad-nothing.yaml]",
    "resources: [bad-list.yaml]",
    "resources: [bad-syntax.yaml]",
    "resources: [bad-indent.yaml]",
    "resources: [bad-separator.yaml]",
    "resources: [bad-repeats.yaml]",
    "resources: [bad-tab.yaml]",
    "resources: [bad-alias.yaml]",
    "resources: [lists.yaml]",
    "resources: [scalars.yaml]",
    "resources: [empties.yaml]\nnamePrefix: a-",
    "resources: [local.yaml, c.yaml]",
    "resources: [comments.yaml]",
    "resources: [deployment-list.yaml]\nnamespace: y",
    "resources: [namespaces.yaml]\nnamespace: y\nnamePrefix: z-",
    "resources: [conflict.yaml]\nnamespace: y",
    "resources: [ambiguous.yaml]\nnamePrefix: z-",
    "resources: [stringly.yaml]\ncommonLabels: {a: b}",
    "resources: [nulls.yaml]\npatches:\n- patch: |-\n    kind: A\n    metadata: {name: x}\n    spec: {b: null, e: {f: null}}",
)
"""What stands in kustomization.yaml, beside the files of `FILES`."""

FILES: Tree = {
    **_BASE,
    "sub/kustomization.yaml": "resources: [c.yaml]\nnamePrefix: sub-\n",
    "sub/c.yaml": _CONFIG,
    "part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: 'yes'}\n",
    "conf.yaml": "namePrefix:\n- path: spec/template/spec/containers/name\n  kind: Deployment\n",
    "r.yaml": "source: {kind: Deployment}\ntargets:\n- select: {kind: Deployment}\n  fieldPaths: [metadata.labels.x]\n  options: {create: true}\n",
    "bad-nokind.yaml": "apiVersion: v1\nmetadata: {name: x, labels: {b: c, a: 1}}\n",
    "bad-noname.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: y}\n",
    "bad-nothing.yaml": "foo: bar\n",
    "bad-list.yaml": "- a\n- b\n",
    "bad-syntax.yaml": "kind: [a\n",
    "bad-indent.yaml": "kind: X\nmetadata:\n  name: y\n z: 1\n",
    "bad-separator.yaml": "kind: X\n--- foo\nkind: Y\n",
    "bad-repeats.yaml": "kind: A\nmetadata: {name: x}\nspec:\n  a: 1\n  a: 2\n",
    "bad-tab.yaml": "kind: A\nmetadata:\n\tname: x\n",
    "bad-alias.yaml": "kind: A\nmetadata: {name: *x}\n",
    "lists.yaml": "kind: List\nitems:\n- kind: A\n  metadata: {name: x}\n- kind: BList\n  items: [{kind: C, metadata: {name: z}}, null, {}]\n- kind: EList\n",
    "scalars.yaml": (
        "kind: A\nmetadata: {name: x}\ndata:\n  a: yes\n  b: 017\n  c: 0o17\n  d: 1_000\n  e: 1e3\n  f: ~\n  g: 2020-01-01\n"
        "  h: 12:30\n  i: 0x1F\n  j: .5\n  k: +1\n  l: 1.0\n  m: 123456789012345678901234567890\n  o: 0b11\n  p: -0\n"
        "  q: 2020-01-01T10:00:00Z\n  r: !!str 12\n  s: 1.5e10\n  t: 1e25\n  u: 08\n  v: \"\"\n  w: |\n    x\n      y\n  z: >\n    a\n    b\n"
        "  aa: 100000000\n  ab: [null, {}, []]\n  ac: {}\n  ad: \"a: b\"\n  ae: 'it''s'\n  af: TRUE\n  ag: Null\n  ah: 1.\n"
    ),
    "empties.yaml": "kind: A\nmetadata: {name: x, annotations: {}, labels: {}}\n---\nkind: B\nmetadata: {name: x, annotations: {a: 1, b: [c], d: null}}\n",
    "local.yaml": "kind: A\nmetadata: {name: x, annotations: {config.kubernetes.io/local-config: 'true'}}\n",
    "comments.yaml": "# top\n---\n# only this\n---\nkind: A # a\nmetadata:\n  name: x # b\n--- # c\nkind: B\nmetadata: {name: y}\n---\n",
    "deployment-list.yaml": "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: a}\n",
    "namespaces.yaml": (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: old}\n"
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n"
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: rb}\n"
        "subjects: [{kind: ServiceAccount, name: default}, {kind: ServiceAccount, name: sa, namespace: old}]\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n"
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n"
    ),
    "conflict.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: a}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: b}\n"
    ),
    "ambiguous.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: a}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: b}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec:\n  containers: [{name: x, envFrom: [{configMapRef: {name: c}}]}]\n"
    ),
    "stringly.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {selector: abc}\n",
    "nulls.yaml": "kind: A\nmetadata: {name: x}\nspec:\n  a: null\n  b: 1\n  c:\n  d: ~\n  e: {f: 1, g: null}\n",
}  # fmt: skip
"""The files beside it."""


def trees() -> list[Tree]:
    """Return the directories."""
    return [{**FILES, "kustomization.yaml": fields + "\n"} for fields in FIELDS]
