"""How a submitted diagnosis is read and scored."""

from __future__ import annotations

import pytest

from env_core.faults import Diagnosis
from env_core.faults._mechanisms import Mechanism
from env_core.suites.repair.diagnosing import Unreadable, read, submission_of

COMMAND = Diagnosis(kind="Deployment", namespace="shop", name="cart", mechanism=Mechanism.COMMAND)
PORT = Diagnosis(kind="Service", namespace="shop", name="user", mechanism=Mechanism.SERVICE_WIRING)
NOTHING = Diagnosis(kind="", namespace="", name="", mechanism=Mechanism.NONE)


@pytest.mark.parametrize("truths", [(COMMAND,), (COMMAND, PORT), (NOTHING,)])
def test_the_truth_is_right(truths):
    marks = read(submission_of(truths)).marks(truths)
    assert marks == {"object": 1.0, "mechanism": 1.0, "right": 1.0, "precision": 1.0, "brier": 0.0}


def test_one_cause_can_be_spelt_out():
    line = "submit --kind=deployment --namespace shop --name=cart --mechanism=command --confidence=0.8"
    assert read(line).marks((COMMAND,)) == {
        "object": 1.0, "mechanism": 1.0, "right": 1.0, "precision": 1.0, "brier": 0.04,
    }  # fmt: skip


def test_any_of_those_that_are_alike_is_right():
    taint = Diagnosis(
        kind="Node", namespace="", name="node-a", mechanism=Mechanism.SCHEDULING, alike=("node-b",)
    )
    assert read("submit --cause=Node/node-b=scheduling").marks((taint,))["right"] == 1.0
    assert read("submit --cause=Node/node-c=scheduling").marks((taint,))["right"] == 0.0


def test_a_missing_cause_costs_recall_and_all_precision():
    marks = read("submit --cause=Deployment/shop/cart=command").marks((COMMAND, PORT))
    assert (marks["right"], marks["precision"], marks["brier"]) == (0.5, 0.0, 0.0)


def test_naming_everything_costs_precision_unless_the_right_one_is_the_surest():
    sure = "submit --cause=Deployment/shop/cart=command@0.9 --cause=Deployment/shop/user=probe@0.3"
    unsure = "submit --cause=Deployment/shop/cart=command@0.3 --cause=Deployment/shop/user=probe@0.9"
    assert read(sure).marks((COMMAND,))["precision"] == 1.0
    assert read(unsure).marks((COMMAND,))["precision"] == 0.5
    assert read(sure).marks((COMMAND,))["brier"] == pytest.approx((0.01 + 0.09) / 2)


def test_nothing_submitted_is_worth_nothing():
    assert read("submit").marks((COMMAND,)) == {
        "object": 0.0, "mechanism": 0.0, "right": 0.0, "precision": 0.0, "brier": 1.0,
    }  # fmt: skip


def test_only_a_clean_bill_clears():
    assert read("submit --mechanism=none").says_nothing_is_wrong
    assert not read("submit --mechanism=none --cause=Deployment/shop/cart=command").says_nothing_is_wrong
    assert not read("submit").says_nothing_is_wrong


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("submit --cause=cart", "--cause must be"),
        ("submit --cause=Deployment//cart=command", "--cause must be"),
        ("submit --cause=Deployment/shop/cart=gremlins", "unknown mechanism"),
        ("submit --cause=Deployment/shop/cart=command@2", "a number from 0 to 1"),
        ("submit --confidence=nan", "a number from 0 to 1"),
        ("submit " + "--cause=Deployment/shop/cart=command " * 9, "at most 8"),
        ("submit --name=a --name=b", "given twice"),
        ("submit 'open", "No closing quotation"),
    ],
)
def test_unreadable_submissions_say_what_to_send(line, what):
    with pytest.raises(Unreadable, match=what):
        read(line)
