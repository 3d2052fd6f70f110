"""Eviction thresholds: how they are written, their defaults, when they are met.

Source: k8s.io/kubernetes pkg/kubelet/eviction (helpers.go, api/types.go) and pkg/kubelet/apis/config/v1beta1/defaults_linux.go,
1.37; vectors in tests/golden/l0/eviction_config.jsonl.gz.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.objects import quantity
from env_core.objects.quantity import QuantityError

SIGNALS: Final = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
    "allocatableMemory.available",
    "pid.available",
)
DEFAULT_HARD: Final[Mapping[str, str]] = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}
ALLOCATABLE: Final = "allocatableMemory.available"
PIDS: Final = "pid.available"
RESOURCES: Final[Mapping[str, str]] = {
    "memory.available": "memory",
    ALLOCATABLE: "memory",
    "nodefs.available": "ephemeral-storage",
    "imagefs.available": "ephemeral-storage",
    "nodefs.inodesFree": "inodes",
    "imagefs.inodesFree": "inodes",
    "pid.available": "pids",
}
"""What is reclaimed when a signal is low."""
CONDITIONS: Final[Mapping[str, str]] = {
    "memory.available": "MemoryPressure",
    ALLOCATABLE: "MemoryPressure",
    "nodefs.available": "DiskPressure",
    "imagefs.available": "DiskPressure",
    "nodefs.inodesFree": "DiskPressure",
    "imagefs.inodesFree": "DiskPressure",
    "pid.available": "PIDPressure",
}


class ThresholdError(ValueError):
    """A threshold cannot be used; the text is the kubelet's."""


class Threshold(NamedTuple):
    """A signal and the value below which it is low: a quantity, or a part of the capacity."""

    signal: str
    quantity: str = ""
    part: float = 0.0

    def shown(self) -> str:
        """Return the threshold as the kubelet's logs show it."""
        value = self.quantity or f"{_general(self.part * 100)}%"
        return f"{self.signal} LessThan {value}"

    def amount(self, capacity: int) -> int:
        """Return the value below which the signal is low, in bytes, inodes or processes."""
        return quantity.to_bytes(self.quantity) if self.quantity else int(capacity * self.part)


def _single(value: float) -> float:
    """Return the nearest number that Go's float32 holds."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def _general(value: float) -> str:
    """Return a float32 as Go's `%v` prints it: with as few digits as tell it from its neighbours."""
    value = _single(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if _single(float(text)) == value:
            return str(int(float(text))) if float(text).is_integer() else text
    return f"{value:.9g}"


def parse(signal: str, value: str) -> Threshold | None:
    """Return one threshold, None when it is turned off (a percentage of 0 or 100).

    Raises:
        ThresholdError: when the signal is unknown or the value is none.
    """
    if signal not in SIGNALS:
        raise ThresholdError(f"unsupported eviction signal {signal}")
    if value in ("0%", "100%"):
        return None
    if value.endswith("%"):
        try:
            part = _single(_single(float(value[:-1])) / _single(100.0))
        except ValueError as error:
            raise ThresholdError(f'strconv.ParseFloat: parsing "{value[:-1]}": invalid syntax') from error
        if part < 0:
            raise ThresholdError(f"eviction percentage threshold {signal} must be >= 0%: {value}")
        if part > 1:
            raise ThresholdError(f"eviction percentage threshold {signal} must be <= 100%: {value}")
        return Threshold(signal, part=part)
    try:
        amount = quantity.parse(value)
    except QuantityError as error:
        raise ThresholdError(str(error)) from error
    if amount.value() <= 0:
        raise ThresholdError(f"eviction threshold {signal} must be positive: {amount}")
    return Threshold(signal, quantity=str(amount))


def configured(hard: Mapping[str, str]) -> tuple[Threshold, ...]:
    """Return the hard thresholds of a kubelet's configuration, sorted by signal.

    What is set for memory.available holds for the memory of all pods together as well.

    Raises:
        ThresholdError: when one cannot be used.
    """
    found = [each for signal in sorted(hard) if (each := parse(signal, hard[signal])) is not None]
    found += [each._replace(signal=ALLOCATABLE) for each in found if each.signal == "memory.available"]
    return tuple(sorted(found))
