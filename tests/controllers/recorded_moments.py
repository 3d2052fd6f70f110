"""When the recorded control plane answered writes: input of the replays, as its latencies are no rules of Kubernetes.

`watch` tells when a change was seen, to the millisecond; states tell in which second an object was made. A write of
ours that the recording has about now is answered at the recorded moment, so that ages and orders come out alike.
"""

from typing import NamedTuple

from env_core.sim.timefmt import parse_ms

AHEAD_MS = 400
"""For how long a write may wait for its recorded moment."""
BEHIND_MS = 150
"""By how much a write may be too late."""
LOOK_MS = 25
"""From a controller's look at its object to its write."""
SUFFIX_LENGTH = len("-xxxxx")
LAG_MS = 2
"""From an answer to the watch that tells of it."""


class Row(NamedTuple):
    """One change that the watch saw."""

    at_ms: int
    type: str
    now: dict
    before: dict


class Moments:
    """The moments of one recording's writes."""

    def __init__(self, flow, start_ms, plural_of):
        self._plural_of = plural_of
        self._rows = {}
        made = _made(flow)
        last = {}
        for at_ms, type_, plural, name, row in flow["watch"]:
            key = (plural, name)
            answered_ms = start_ms + at_ms - LAG_MS
            if type_ == "ADDED":
                last.pop(key, None)
                answered_ms = _within_second(answered_ms, made.get(key, ()))
            self._rows.setdefault(key, []).append(Row(answered_ms, type_, row, last.get(key, {})))
            last[key] = row

    def next_ms(self, plural, name, now_ms, within_ms):
        """Return when an object was changed next, if that was soon."""
        rows = self._rows.get((plural, name), ())
        found = (row.at_ms for row in rows if now_ms < row.at_ms - LOOK_MS <= now_ms + within_ms)
        return next((at_ms - LOOK_MS for at_ms in found), None)

    def next_slices_ms(self, service, now_ms, within_ms):
        """Return when a service's slices were written next, if that was soon."""
        found = [
            row.at_ms
            for (plural, name), rows in self._rows.items()
            if plural == "endpointslices" and name[:-SUFFIX_LENGTH] == service
            for row in rows
            if now_ms < row.at_ms <= now_ms + within_ms
        ]
        return min(found, default=None)

    def endpoints_in_order(self, name, endpoints, now_ms):
        """Return endpoints in the order in which the recorded slice of that name has them: upstream it is a map's."""
        rows = [row for row in self._rows.get(("endpointslices", name), ()) if row.at_ms <= now_ms + AHEAD_MS]
        listed = [each[0] for each in (rows[-1].now.get("endpoints") or ())] if rows else []
        last = len(listed)
        return sorted(
            endpoints,
            key=lambda each: listed.index(each["addresses"]) if each["addresses"] in listed else last,
        )

    def of(self, request, now_ms):
        """Return when a write was answered, if the recording has such a one about now."""
        if request.options.dry_run or (not request.name and request.verb != "create"):
            return None
        plural = self._plural_of(request.resource)
        what = _change(plural, request)
        name = request.name or (
            request.body["metadata"].get("name") if isinstance(request.body, dict) else ""
        )
        return self._find(plural, name, now_ms, what) if what is not None and name else None

    def _find(self, plural, name, now_ms, what):
        rows = self._rows.get((plural, name), ())
        found = (row.at_ms for row in rows if -BEHIND_MS <= row.at_ms - now_ms <= AHEAD_MS and what(row))
        return next(found, None)


def _made(flow):
    """Return the seconds in which objects were made, by plural and name."""
    found = {}
    for step in flow["steps"]:
        state = step["state"]
        for plural, objects in state.items() if isinstance(state, dict) else ():
            for obj in objects:
                stamp = parse_ms(obj["metadata"]["creationTimestamp"])
                found.setdefault((plural, obj["metadata"]["name"]), set()).add(stamp)
    return found


def _within_second(at_ms, seconds):
    nearest = min(seconds, key=lambda second: abs(second + 500 - at_ms), default=None)
    if nearest is None or abs(nearest + 500 - at_ms) > 1_500:
        return at_ms
    return min(max(at_ms, nearest), nearest + 999)


def _change(plural, request):
    """Return what tells a write's row from others, or None if nothing does."""
    if request.verb == "create":
        if request.subresource == "binding":
            return lambda row: row.now.get("node") and not row.before.get("node")
        return None if request.subresource else lambda row: row.type == "ADDED"
    if request.verb == "delete":
        return lambda row: (
            row.type == "DELETED" or (row.now.get("deleting") and not row.before.get("deleting"))
        )
    body = request.body
    if not isinstance(body, dict):
        return None
    if plural == "pods" and request.subresource == "status":
        wanted = _pod_row(body.get("status") or {})
        return lambda row: _kubelet_part(row.now) == wanted and _kubelet_part(row.before) != wanted
    replicas = (body.get("spec") or {}).get("replicas")
    if replicas is not None and request.subresource in ("", "scale"):
        return lambda row: row.now.get("replicas") == replicas != row.before.get("replicas")
    return None


def _pod_row(status):
    containers = status.get("containerStatuses") or ()
    return (
        status.get("phase"),
        [bool(each.get("ready")) for each in containers],
        [
            f"{name}:{inner.get('reason', '')}"
            for each in containers
            for name, inner in list(each["state"].items())[:1]
        ],
    )


def _kubelet_part(row):
    return (row.get("phase"), row.get("ready"), row.get("state"))
