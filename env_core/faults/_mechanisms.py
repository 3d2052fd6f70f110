"""The closed list of mechanisms that a diagnosis names: public, the same for all families, and none of them a family's id."""

from __future__ import annotations

from enum import Enum


class Mechanism(Enum):
    """How something is broken, in the words that a post-mortem would use."""

    COMMAND = "wrong command or arguments"
    MISSING_CONFIG = "missing configuration"
    WRONG_CONFIG = "wrong configuration value"
    STALE_CONFIG = "configuration not reloaded"
    CREDENTIAL = "wrong or expired credential"
    IMAGE_REFERENCE = "image cannot be pulled"
    BAD_RELEASE = "defect in a release"
    PROBE = "wrong probe"
    STARTUP = "start takes longer than allowed"
    MEMORY = "memory limit or leak"
    CPU = "cpu limit or starvation"
    CAPACITY = "not enough capacity"
    SCHEDULING = "scheduling constraint cannot be met"
    NODE = "node fault"
    STORAGE = "storage cannot be provided"
    STORAGE_FULL = "storage full"
    DATA = "damaged data"
    SERVICE_WIRING = "service selects or targets the wrong thing"
    DNS = "name resolution"
    NETWORK_POLICY = "network policy blocks needed traffic"
    INGRESS = "wrong ingress rule"
    TLS = "certificate"
    EGRESS = "outside dependency unreachable"
    ADMISSION = "admission refuses or changes objects"
    QUOTA = "quota exhausted"
    PERMISSION = "missing permission"
    ROLLOUT = "rollout cannot progress"
    DISRUPTION = "disruption budget blocks"
    AUTOSCALING = "autoscaler acts wrongly"
    CONTROLLER = "controller or operator reverts or stops"
    SCHEDULE = "job or schedule fails"
    DEPENDENCY = "dependency down"
    OVERLOAD = "load amplifies itself"
    NONE = "nothing is wrong"
