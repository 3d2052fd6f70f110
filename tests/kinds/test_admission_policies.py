"""What is wrong with admission policies, bindings and webhooks, in the API server's words (validation.go)."""

import pytest

from env_core.kinds import (
    validatingadmissionpolicy,
    validatingadmissionpolicybinding,
    validatingwebhookconfiguration,
)

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
IDENTIFIER = "name is not a valid CEL identifier"


def policy(**spec):
    return {
        "metadata": {"name": "guard"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [RULE]},
            "validations": [{"expression": "true"}],
            **spec,
        },
    }


def texts(kind, obj, old=None):
    found = kind.KIND.validate(obj) if old is None else kind.KIND.validate_update(obj, old)
    return [problem.text() for problem in found]


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ({}, []),
        (
            {"variables": [{"name": "in", "expression": "1"}, {"name": "a-b", "expression": " "}]},
            [
                f'spec.variables[0].name: Invalid value: "in": {IDENTIFIER}',
                f'spec.variables[1].name: Invalid value: "a-b": {IDENTIFIER}',
                "spec.variables[1].expression: Required value: expression is not specified",
            ],
        ),
        (
            {
                "variables": [{"name": "n", "expression": "size(object.data)"}],
                "validations": [{"expression": "variables.n < 3 && variables.m"}],
            },
            [
                'spec.validations[0].expression: Invalid value: "variables.n < 3 && variables.m": compilation failed: '
                "ERROR: <input>:1:29: undefined field 'm'\n | variables.n < 3 && variables.m\n | ............................^"
            ],
        ),
        (
            {"validations": [{"expression": "true", "messageExpression": "authorizer", "message": " "}]},
            [
                'spec.validations[0].messageExpression: Invalid value: "authorizer": compilation failed: ERROR: <input>:1:1: '
                "undeclared reference to 'authorizer' (in container '')\n | authorizer\n | ^",
                'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
            ],
        ),
        (
            {
                "matchConditions": [
                    {"name": "same", "expression": "true"},
                    {"name": "same", "expression": "1"},
                    {"expression": ""},
                ]
            },
            [
                'spec.matchConditions[1].expression: Invalid value: "1": must evaluate to bool but got int',
                'spec.matchConditions[1].name: Duplicate value: "same"',
                "spec.matchConditions[2].expression: Required value",
                "spec.matchConditions[2].name: Required value",
            ],
        ),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "X Y"}},
            [
                'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
                'spec.paramKind.kind: Invalid value: "X Y": may have mixed case, but should otherwise match: a DNS-1035 label '
                "must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an "
                "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            ],
        ),
        (
            {
                "auditAnnotations": [
                    {"key": "k", "valueExpression": "1"},
                    {"key": "k", "valueExpression": "'a'"},
                ]
            },
            [
                'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
                'spec.auditAnnotations[1].key: Duplicate value: "k"',
            ],
        ),
        (
            {"matchConstraints": {"resourceRules": [{**RULE, "resourceNames": ["a", "a", "b/c"]}]}},
            [
                'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
                "spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: \"b/c\": may not contain '/'",
            ],
        ),
    ],
)
def test_policies(spec, problems):
    assert texts(validatingadmissionpolicy, policy(**spec)) == problems


def test_expressions_that_are_stored_already_are_not_put_to_new_rules():
    broken = policy(matchConditions=[{"name": "a", "expression": "1"}])
    assert texts(validatingadmissionpolicy, broken, broken) == []
    changed = policy(matchConditions=[{"name": "b", "expression": "1"}])
    assert len(texts(validatingadmissionpolicy, changed, broken)) == 1


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ({}, []),
        (
            {"validationActions": ["Deny", "Warn", "Deny"]},
            [
                'spec.validationActions[2]: Duplicate value: "Deny"',
                'spec.validationActions: Invalid value: ["Deny","Warn","Deny"]: must not contain both Deny and Warn (repeating '
                "the same validation failure information in the API response and headers serves no purpose)",
            ],
        ),
        (
            {"paramRef": {"name": "x", "selector": {}}},
            [
                "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
                "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
                "spec.paramRef.parameterNotFoundAction: Required value",
            ],
        ),
        (
            {"paramRef": {"parameterNotFoundAction": "Maybe"}},
            [
                "spec.paramRef: Required value: one of name or selector must be specified",
                'spec.paramRef.parameterNotFoundAction: Unsupported value: "Maybe": supported values: "Deny", "Allow"',
            ],
        ),
    ],
)
def test_bindings(spec, problems):
    obj = {
        "metadata": {"name": "b"},
        "spec": {"policyName": "guard", "validationActions": ["Deny"], **spec},
    }
    assert texts(validatingadmissionpolicybinding, obj) == problems


def test_webhooks_have_conditions_without_parameters():
    webhook = {
        "name": "guard.example.com",
        "clientConfig": {"url": "https://example.com"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "a", "expression": "params.x"}],
    }
    problem = (
        'webhooks[0].matchConditions[0].expression: Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared '
        "reference to 'params' (in container '')\n | params.x\n | ^"
    )
    obj = {"metadata": {"name": "w"}, "webhooks": [webhook]}
    assert texts(validatingwebhookconfiguration, obj) == [problem]
    assert texts(validatingwebhookconfiguration, obj, obj) == []
