"""Worlds with custom resources: real clusters, definitions as people write them, kubectl at a terminal."""

from __future__ import annotations

from typing import Any

import yaml

from env_core.apiserver.request import ADMIN, Identity
from env_core.cluster import Cluster
from env_core.tools.terminal import Terminal
from env_core.world import Output

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.color}]
    subresources:
      status: {}
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
        labelSelectorPath: .status.selector
    additionalPrinterColumns:
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Widget is for testing.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              color: {type: string, default: red, enum: [red, blue]}
              replicas: {type: integer}
              port: {x-kubernetes-int-or-string: true}
              hosts: {type: array, x-kubernetes-list-type: set, items: {type: string, format: ipv4}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string, maxLength: 3}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, old: {type: string, default: x}}}
"""


def widget(name: str = "a", spec: str = "{size: 2}", version: str = "v1", more: str = "") -> str:
    """Return a manifest."""
    return (
        f"apiVersion: example.com/{version}\nkind: Widget\nmetadata: {{name: {name}{more}}}\nspec: {spec}\n"
    )


class Town:
    """A cluster and a terminal in front of it."""

    def __init__(self, cluster: Cluster, terminal: Terminal) -> None:
        self.cluster = cluster
        self.terminal = terminal

    @classmethod
    def booted(cls, *definitions: str, user: Identity = ADMIN) -> Town:
        """Return a fresh cluster in which definitions have been applied and established."""
        cluster = Cluster(seed=1)
        cluster.boot()
        cluster.advance(1_000)
        town = cls(cluster, Terminal(cluster, user, namespace="default"))
        for definition in definitions:
            assert town.run("kubectl apply -f -", definition).exit_code == 0
        cluster.advance(1_000)
        return town

    def run(self, line: str, stdin: str = "") -> Output:
        """Run a line; `stdin` is what it reads."""
        if stdin:
            line = f"{line} <<'STOP'\n{stdin}\nSTOP"
        return self.terminal.run(line, lambda _argv: None, 120_000)

    def stdout(self, line: str, stdin: str = "") -> str:
        """Return what a line that must succeed prints."""
        output = self.run(line, stdin)
        assert output.exit_code == 0, output
        return output.stdout

    def refusal(self, line: str, stdin: str = "") -> str:
        """Return the complaint of a line that must fail."""
        output = self.run(line, stdin)
        assert output.exit_code == 1, output
        return output.stderr

    def yaml(self, line: str) -> Any:
        """Return the object that a line prints as YAML."""
        return yaml.safe_load(self.stdout(f"{line} -o yaml"))

    def fork(self) -> Town:
        """Return the town of a forked world."""
        cluster = self.cluster.fork()
        return Town(cluster, self.terminal.fork(cluster))
