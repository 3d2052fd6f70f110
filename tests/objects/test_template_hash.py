"""Hashes of pod templates and revisions are those that the real controllers put into names."""

import gzip
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from env_core.apiserver.schema import struct_named
from env_core.objects.template_hash import _advanced, compute_hash, dump, fnv32a, revision_hash, safe_encoded

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TEMPLATE = struct_named("api/core/v1.PodTemplateSpec")


def records(name):
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_recorded_templates_have_the_recorded_hashes():
    for record in records("l0/template_hash"):
        got = [compute_hash(record["template"], count, TEMPLATE) for count in (None, 0, 1)]
        assert got == [record["hash"], record["hashCollision0"], record["hashCollision1"]], record["id"]


def test_recorded_dumps_are_the_same_text():
    dumped = [record for record in records("l0/template_hash") if "dump" in record]
    assert len(dumped) >= 6
    for record in dumped:
        assert dump(record["template"], TEMPLATE) == record["dump"], record["id"]


def test_live_deployments_have_the_recorded_hashes():
    for record in records("l2/facts/hashes"):
        deployment = record["Deployment"]
        assert compute_hash(deployment["template"], None, TEMPLATE) == deployment["pod-template-hash"], (
            record["id"]
        )


def test_live_daemon_sets_and_stateful_sets_have_the_recorded_revision_names():
    for record in records("l2/facts/hashes"):
        daemon_set, stateful_set = record["DaemonSet"], record["StatefulSet"]
        name = daemon_set["controllerRevision"]["name"]
        assert name.endswith("-" + compute_hash(daemon_set["template"], None, TEMPLATE)), record["id"]
        revision = stateful_set["controllerRevision"]
        assert revision["name"].endswith("-" + revision_hash(revision["data"], 0)), record["id"]


def test_the_piecewise_hash_is_the_plain_one():
    for record in records("l2/facts/hashes")[:10]:
        template = record["Deployment"]["template"]
        plain = safe_encoded(str(fnv32a(dump(template, TEMPLATE).encode())))
        assert compute_hash(template, None, TEMPLATE) == plain


@given(
    st.integers(0, (1 << 32) - 1), st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=6)
)
def test_a_piece_that_is_met_again_and_again_has_the_same_effect(state, pieces):
    wanted = state
    for byte in "".join(pieces).encode():
        wanted = (wanted ^ byte) * 0x01000193 & 0xFFFFFFFF
    for _ in range(5):
        found = state
        for piece in pieces:
            found = _advanced(found, piece)
        assert found == wanted
