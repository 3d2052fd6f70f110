"""By how much a recording's times were shifted, and hashes of templates that hold such a time.

README of tests/golden/l2: timestamps "are shifted by a whole number of minutes", while hashes are raw. A hash of a
recorded template that holds a time (`rollout restart`) tells the number of minutes: it is the one with which the
template hashes to it.
"""

from contextlib import ExitStack, contextmanager
from unittest import mock

from env_core.apiserver.schema import struct_named
from env_core.controllers import _revisions, daemonset, statefulset
from env_core.objects.template_hash import compute_hash, revision_hash
from env_core.sim.timefmt import parse_ms, rfc3339

RESTARTED = "kubectl.kubernetes.io/restartedAt"
MINUTE_MS = 60_000
DAY_MINUTES = 1_440
RECORDED_MINUTE = 20_786 * DAY_MINUTES
"""About when recordings were made, in minutes since the epoch: as their CronJobs' raw names tell."""
SEARCHED_DAYS = 30
NEAR_MS = 3_000


def restarted_at(template):
    """Return when a template says that it was restarted, None if it does not."""
    return ((template.get("metadata") or {}).get("annotations") or {}).get(RESTARTED)


def moved(template, minutes):
    """Return a template with the time that it holds shifted back to what it really was."""
    stamp = restarted_at(template)
    if stamp is None:
        return template
    metadata = template["metadata"]
    real = rfc3339(parse_ms(stamp) + minutes * MINUTE_MS)
    return {**template, "metadata": {**metadata, "annotations": {**metadata["annotations"], RESTARTED: real}}}


class Shift:
    """What one recording tells of its shift; `flow` has raw names."""

    def __init__(self, flow):
        self.stamps = set()
        self.minutes = 0
        hashed = {}
        for step in flow["steps"]:
            state = step["state"] if isinstance(step["state"], dict) else {}
            for plural in ("replicasets", "controllerrevisions"):
                for obj in state.get(plural, ()):
                    template, digest, of = _hashed(obj)
                    if template is not None and restarted_at(template):
                        self.stamps.add(restarted_at(template))
                        hashed.setdefault(digest, (template, of))
        if hashed:
            digest, (template, of) = min(hashed.items(), key=lambda item: item[0])
            self.minutes = _search(template, digest, of, parse_ms(flow["start"]) // MINUTE_MS)

    def with_recorded_stamp(self, body):
        """Return a write's body with the recorded moment of a restart in place of our own, which is about the same."""
        template = ((body.get("spec") or {}).get("template") if isinstance(body, dict) else None) or {}
        stamp = restarted_at(template) if self.stamps else None
        if stamp is None:
            return body
        nearest = min(self.stamps, key=lambda each: abs(parse_ms(each) - parse_ms(stamp)))
        if abs(parse_ms(nearest) - parse_ms(stamp)) > NEAR_MS:
            return body
        metadata = template["metadata"]
        annotations = {**metadata["annotations"], RESTARTED: nearest}
        template = {**template, "metadata": {**metadata, "annotations": annotations}}
        return {**body, "spec": {**body["spec"], "template": template}}

    @contextmanager
    def undone(self):
        """Let controllers hash what the recorded controllers hashed."""

        def of_template(template, count, schema):
            return compute_hash(moved(template, self.minutes), count, schema)

        def of_data(data, count):
            template = data["spec"]["template"]
            return revision_hash({"spec": {"template": moved(template, self.minutes)}}, count)

        with ExitStack() as stack:
            if self.minutes:
                stack.enter_context(mock.patch.object(_revisions, "compute_hash", of_template))
                stack.enter_context(mock.patch.object(daemonset, "compute_hash", of_template))
                stack.enter_context(mock.patch.object(statefulset, "revision_hash", of_data))
            yield


def _hashed(obj):
    """Return the template of a replica set or revision, its hash, and whose way of hashing that is."""
    if obj["kind"] == "ReplicaSet":
        template = obj["spec"]["template"]
        labels = dict(template["metadata"].get("labels") or {})
        digest = labels.pop(_revisions.HASH_LABEL, None)
        return {**template, "metadata": {**template["metadata"], "labels": labels}}, digest, "Deployment"
    template = (obj.get("data") or {}).get("spec", {}).get("template")
    owner = next((each["kind"] for each in obj["metadata"].get("ownerReferences") or ()), "")
    return template, obj["metadata"]["name"].rpartition("-")[2], owner


def _search(template, digest, of, start_minute):
    """Return the number of minutes that makes the template's hash the recorded one; 0 if none does."""
    schema = struct_named("api/core/v1.PodTemplateSpec")
    plain = {key: value for key, value in template.items() if key != "$patch"}
    about = RECORDED_MINUTE + DAY_MINUTES // 2 - start_minute
    for distance in range(SEARCHED_DAYS * DAY_MINUTES):
        for minutes in (about + distance, about - distance):
            if of == "StatefulSet":
                found = revision_hash({"spec": {"template": moved(template, minutes)}}, 0)
            else:
                found = compute_hash(moved(plain, minutes), None, schema)
            if found == digest:
                return minutes
    return 0
