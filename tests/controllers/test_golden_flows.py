"""Recorded flows of a real control plane, replayed against our controllers."""

import pytest

from tests.controllers.flows import Score
from tests.controllers.golden import flow_names

# Not replayed here: a job that kubectl makes of a CronJob, which only a replay of the commands does.
LEFT_OUT = {"cron-manual"}

FLOORS = {
    # prefix: (steps in the recorded state, steps with the recorded events)
    "deploy-": (474, 462),  # of 489 and 468
    "svc-": (102, 102),
    "pdb-": (57, 57),
    "rs-": (31, 31),
    "gc-": (20, 20),
    "ns-": (22, 23),
    "quota": (26, 26),
    "rc-": (7, 7),
    "hpa-": (207, 215),
    "apply-deploy": (
        19,
        4,
    ),  # of 19: which message a full aggregator of events forgets is drawn, in the first steps
    "node-": (145, 145),  # of 145 and 148
    "sts-": (177, 177),
    "ds-": (82, 73),  # of 82; the tenth pod's event is one that a Go map drew
    "job-": (125, 125),
    "cron-": (39, 39),
    "pvc-": (43, 49),  # of 49; when volumes are looked at again is not recorded
}


@pytest.mark.parametrize("prefix", sorted(FLOORS))
def test_flows_end_as_recorded(prefix):
    scores = [Score(name) for name in flow_names() if name.startswith(prefix) and name not in LEFT_OUT]
    state = sum(score.state for score in scores)
    events = sum(score.events for score in scores)
    firsts = [score.first for score in scores if score.first][:5]
    floor_state, floor_events = FLOORS[prefix]
    assert state >= floor_state, (state, firsts)
    assert events >= floor_events, (events, firsts)
    assert [text for score in scores for text in score.forbidden if "serviceaccount" in text] == []
