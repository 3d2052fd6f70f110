"""Briefs and hints: the symptom as a pager words it, and one remark about recent changes that may be beside the point.

No object name, parameter value or mechanism stands in them (SEEDS TR-19, TR-20); a test checks it.
"""

from __future__ import annotations

from env_core.sim.rng import Stream

_BRIEFS = {
    0.7: (
        "PagerDuty P2: http://tron.localhost/health is green, but users report errors on http://tron.localhost/data. Restore the data path for good.",
        "Synthetic check 'tron data' is failing while 'tron health' passes. Customers see errors on /data. Find the cause and repair it durably.",
        "Error budget alert: almost every request to http://tron.localhost/data fails; /health still answers. Bring it back and keep it back.",
    ),
    0.4: (
        "PagerDuty P1: http://tron.localhost answers, but with errors on every path we watch. Restore service for good.",
        "Synthetic checks 'tron health' and 'tron data' both fail with errors. Find the cause and repair it durably.",
    ),
    1.0: (
        "PagerDuty P3: no customer impact yet, but a review says that the tron service would not notice its own failure. Make it trustworthy again.",
        "Reliability review: the tron service looks healthy; we doubt that it would look otherwise if it were not. Repair what is wrong.",
    ),
}
_HINTS = (
    "A maintenance window for this application closed a few minutes ago.",
    "Two people were working on this application today; neither reported a problem.",
    "The delivery pipeline was active in this cluster within the last hour.",
    "The nodes got their monthly patches last week; nothing unusual since.",
    "Nobody has announced a change today.",
)


def brief(stream: Stream, service_score: float) -> str:
    """Return the page for a service with this score."""
    return stream.choice(_BRIEFS.get(service_score, _BRIEFS[0.4]))


def hint(stream: Stream) -> str:
    """Return the remark about recent changes."""
    return stream.choice(_HINTS)
