"""CustomResourceDefinitions: what they may say, how names are accepted, and how they go."""

from __future__ import annotations

import pytest
import yaml

from env_core.apiextensions.definition_rules import validate
from env_core.apiextensions.definitions import version_key
from env_core.apiextensions.kinds import kinds_of
from tests.apiextensions.worlds import DEFINITION, Town, widget

OTHER = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: gizmos, kind: Gizmo, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def conditions(town, name):
    return {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in town.yaml(f"kubectl get crd {name}")["status"]["conditions"]
    }


def test_a_name_in_use_keeps_a_definition_back_until_it_is_free():
    town = Town.booted(DEFINITION, OTHER)
    assert conditions(town, "gizmos.example.com") == {
        "NamesAccepted": ("False", "ShortNamesConflict", '"wd" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }
    assert town.refusal("kubectl get gizmos") == 'error: the server doesn\'t have a resource type "gizmos"\n'
    town.stdout("kubectl delete crd widgets.example.com")
    town.cluster.advance(1_000)
    assert conditions(town, "gizmos.example.com") == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    gizmo = "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: g}\nany: [1, {a: b}]\n"
    town.stdout("kubectl create -f -", gizmo)
    assert town.yaml("kubectl get wd g")["any"] == [1, {"a": "b"}]


def test_a_definition_goes_after_its_instances():
    town = Town.booted(DEFINITION)
    town.stdout("kubectl create -f -", widget(more=", finalizers: [example.com/clean]"))
    town.stdout("kubectl create -f -", widget("b"))
    town.stdout("kubectl delete crd widgets.example.com --wait=false")
    town.cluster.advance(100)
    assert conditions(town, "widgets.example.com")["Terminating"] == (
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
    assert town.stdout("kubectl get wd -o name") == "widget.example.com/a\n"
    assert town.refusal("kubectl create -f -", widget("c")).endswith(
        'widgets.example.com "c" is forbidden: create not allowed while custom resource definition is terminating\n'
    )
    verbs = town.stdout("kubectl api-resources --api-group=example.com -o wide").splitlines()[1]
    assert "delete,deletecollection,get,list,watch " in verbs
    town.stdout("""kubectl patch wd a --type=merge -p '{"metadata":{"finalizers":null}}'""")
    town.cluster.advance(6_000)
    # The types are remembered, so that the server is asked and has to refuse.
    assert town.refusal("kubectl get wd") == (
        'Error from server (NotFound): Unable to list "example.com/v1, Resource=widgets": '
        "the server could not find the requested resource (get widgets.example.com)\n"
    )
    town.stdout("kubectl api-resources -o name")
    assert town.refusal("kubectl get wd") == 'error: the server doesn\'t have a resource type "wd"\n'


def test_scope_and_kind_are_fixed_once_established():
    town = Town.booted(DEFINITION)
    patch = """{"spec":{"scope":"Cluster","names":{"kind":"Wodget","listKind":"WodgetList"}}}"""
    assert town.refusal(f"kubectl patch crd widgets.example.com --type=merge -p '{patch}'").splitlines()[
        1:
    ] == [
        '* spec.scope: Invalid value: "Cluster": field is immutable',
        '* spec.names.kind: Invalid value: "Wodget": field is immutable',
    ]


def test_versions_that_may_be_stored_stay():
    town = Town.booted(DEFINITION)
    switched = yaml.safe_load(DEFINITION)
    switched["spec"]["versions"][0]["storage"] = False
    switched["spec"]["versions"][1]["storage"] = True
    town.stdout("kubectl apply -f -", yaml.safe_dump(switched))
    assert town.yaml("kubectl get crd widgets.example.com")["status"]["storedVersions"] == ["v1", "v1beta1"]
    del switched["spec"]["versions"][0]
    assert 'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions' in town.refusal(
        "kubectl apply -f -", yaml.safe_dump(switched)
    )


def test_formats_that_nothing_checks_are_warned_of():
    town = Town.booted()
    text = OTHER.replace(
        "x-kubernetes-preserve-unknown-fields: true", "properties: {a: {type: string, format: odd}}"
    )
    assert town.run("kubectl apply -f -", text).stderr == 'Warning: unrecognized format "odd"\n'


SCHEMA = "spec.validation.openAPIV3Schema"


def problems(schema, **version):
    definition = yaml.safe_load(OTHER)
    made = definition["spec"]["versions"][0]
    made["schema"] = {"openAPIV3Schema": yaml.safe_load(schema)}
    made.update(version)
    definition["spec"]["names"] |= {"singular": "gizmo", "listKind": "GizmoList"}
    definition["spec"]["conversion"] = {"strategy": "None"}
    definition["status"] = {"storedVersions": ["v1"]}
    return [problem.text() for problem in validate(definition)]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("{type: object}", []),
        ("{type: string}", [f'{SCHEMA}.type: Invalid value: "string": must be object at the root']),
        (
            "{type: object, properties: {a: {}}}",
            [f"{SCHEMA}.properties[a].type: Required value: must not be empty for specified object fields"],
        ),
        (
            "{type: object, properties: {a: {type: array, items: {}}}}",
            [
                f"{SCHEMA}.properties[a].items.type: Required value: must not be empty for specified array items"
            ],
        ),
        (
            "{type: object, properties: {a: {type: array}}}",
            [f"{SCHEMA}.properties[a].items: Required value: must be specified"],
        ),
        (
            "{type: object, additionalProperties: {type: string}}",
            [f"{SCHEMA}.additionalProperties: Forbidden: must not be used at the root"],
        ),
        (
            "{type: object, properties: {metadata: {type: object, properties: {labels: {type: object}}}}}",
            [
                f"{SCHEMA}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
                "but metadata is implicitly specified"
            ],
        ),
        ("{type: object, properties: {metadata: {type: object, properties: {name: {type: string}}}}}", []),
        (
            "{type: object, properties: {a: {x-kubernetes-int-or-string: true, "
            "anyOf: [{type: integer}, {type: string}]}}}",
            [],
        ),
        (
            "{type: object, properties: {a: {type: string, oneOf: [{type: string}]}}}",
            [f"{SCHEMA}.properties[a].oneOf[0].type: Forbidden: must be empty to be structural"],
        ),
        (
            "{type: object, anyOf: [{properties: {a: {minimum: 1}}}]}",
            [
                f"{SCHEMA}.properties[a]: Required value: because it is defined in {SCHEMA}.anyOf[0].properties[a]"
            ],
        ),
        (
            "{type: object, properties: {a: {type: integer, default: x}}}",
            [
                f'{SCHEMA}.properties[a].default: Invalid value: "string":  in body '
                'must be of type integer: "string"'
            ],
        ),
        (
            "{type: object, properties: {a: {type: object, default: {b: 1}}}}",
            [f'{SCHEMA}.properties[a].default: Invalid value: {{"b":1}}: must not have unknown fields'],
        ),
        (
            "{type: object, properties: {a: {type: string, pattern: '('}}}",
            [
                f'{SCHEMA}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
                "error parsing regexp: missing closing ): `(`"
            ],
        ),
        (
            "{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: string}}}}",
            [
                f"{SCHEMA}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
                "x-kubernetes-list-type is map",
                f'{SCHEMA}.properties[a].items.type: Invalid value: "string": must be object if parent array\'s '
                "x-kubernetes-list-type is map",
            ],
        ),
        (
            "{type: object, properties: {a: {type: object, x-kubernetes-map-type: odd}}}",
            [
                f'{SCHEMA}.properties[a].x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", '
                '"granular"'
            ],
        ),
        (
            "{type: object, properties: {a: {type: string, uniqueItems: true}}}",
            [
                f"{SCHEMA}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
                "complexity becomes quadratic"
            ],
        ),
        (
            "{type: object, nullable: true}",
            [f"{SCHEMA}.nullable: Forbidden: nullable cannot be true at the root"],
        ),
        (
            "{type: object, x-kubernetes-validations: [{rule: ' '}]}",
            [f"{SCHEMA}.x-kubernetes-validations[0].rule: Required value: rule is not specified"],
        ),
    ],
)
def test_schemas_must_be_structural(schema, expected):
    assert problems(schema) == expected


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            {"additionalPrinterColumns": [{"name": "", "type": "text", "jsonPath": "a"}]},
            [
                "spec.additionalPrinterColumns[0].name: Required value",
                'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of '
                "boolean,date,integer,number,string",
                'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting '
                "with .",
            ],
        ),
        (
            {"subresources": {"scale": {"specReplicasPath": ".a", "statusReplicasPath": ""}}},
            [
                'spec.subresources.scale.specReplicasPath: Invalid value: ".a": should be a json path under .spec',
                "spec.subresources.scale.statusReplicasPath: Required value",
            ],
        ),
        (
            {"selectableFields": [{"jsonPath": ".a"}, {"jsonPath": ".b"}, {"jsonPath": ".b"}]},
            [
                'spec.selectableFields[0].jsonPath: Invalid value: ".a": is an invalid path: does not refer to a '
                "valid field",
                'spec.selectableFields[2].jsonPath: Duplicate value: ".b"',
            ],
        ),
        (
            {"deprecationWarning": "old"},
            [
                'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
            ],
        ),
    ],
)
def test_versions_say_what_can_be_done(version, expected):
    assert problems("{type: object, properties: {b: {type: string}}}", **version) == expected


def test_stable_versions_come_first_and_newest_first():
    versions = ["v1beta1", "foo", "v2alpha1", "v10", "v1", "v2", "bar", "v1beta2"]
    assert sorted(versions, key=version_key) == [
        "v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "bar", "foo",
    ]  # fmt: skip


def test_definitions_that_say_the_same_give_the_same_kinds():
    first, second = (Town.booted(DEFINITION).cluster for _ in range(2))
    found = [
        kinds_of(cluster.store.list("customresourcedefinitions.apiextensions.k8s.io")[0])
        for cluster in (first, second)
    ]
    assert [kind.version for kind in found[0]] == ["v1", "v1beta1"]
    assert all(one is other for one, other in zip(*found, strict=True))
