"""ping of iputils and of BusyBox."""

from __future__ import annotations

from typing import Final

from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    FILTERED,
    NETWORK_UNREACHABLE,
    REFUSED,
    RESOLVER_ERRORS,
    TIMEOUT,
    UNREACHABLE,
    Wire,
    sleep,
)
from env_core.shell._clients.busybox_wget import BANNER
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.world import Output

_ICMP: Final = {
    UNREACHABLE: "Destination Host Unreachable",
    REFUSED: "Destination Port Unreachable",
    NETWORK_UNREACHABLE: "Destination Net Unreachable",
    FILTERED: "Packet filtered",
}
_BUSYBOX_USAGE: Final = """Usage: ping [OPTIONS] HOST

Send ICMP ECHO_REQUESTs to HOST

	-4,-6		Force IP or IPv6 name resolution
	-c CNT		Send only CNT pings
	-s SIZE		Send SIZE data bytes in packets (default 56)
	-i SECS		Interval
	-A		Ping as soon as reply is received
	-t TTL		Set TTL
	-I IFACE/IP	Source interface or IP address
	-W SEC		Seconds to wait for the first response (default 10)
			(after all -c CNT packets are sent)
	-w SEC		Seconds until ping exits (default:infinite)
			(can exit earlier with -c CNT)
	-q		Quiet, only display output at start/finish
	-p HEXBYTE	Payload pattern
"""
_COUNT_MAX: Final = 1_000
_ENDLESS_COUNT: Final = 10
"""How many packets a ping without a count sends before the terminal interrupts it."""


def _gateway(wire: Wire, address: str) -> str:
    """Return the address of the node's bridge, which packets to other networks pass; "" for neighbours."""
    network = wire.own_address.rpartition(".")[0]
    return "" if address.rpartition(".")[0] == network or address.startswith("127.") else f"{network}.1"


def _times(count: int) -> list[float]:
    return [0.041 + (index * 37 % 23) / 1000 for index in range(count)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run iputils ping.

    Source: tests/golden/programs/nettools.
    """
    try:
        options = parse_options(argv[1:], "c:W:w:i:s:t:I:M:p:Q:S:qnv46AbDfLOrRUaB", {})
    except UsageProblem as problem:
        return Output("", f"ping: {problem.text}\n\nUsage\n  ping [options] <destination>\n", 2)
    if not options.operands:
        return Output("", "ping: usage error: Destination address required\n", 1)
    for letter in "ciwW":
        if options.has(letter) and _number(options.value(letter)) is None:
            return Output("", f"ping: invalid argument: '{options.value(letter)}'\n", 1)
    host = options.operands[-1]
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        why = RESOLVER_ERRORS.get(found.failure, RESOLVER_ERRORS[DNS_TIMEOUT])
        return Output("", f"ping: {host}: {why}\n", 2)
    address = found.addresses[0]
    size = int(options.value("s", "56"))
    interval_ms = int(float(options.value("i", "1")) * 1000)
    limit_ms = int(float(options.value("w")) * 1000) if options.has("w") else 0
    count = min(int(options.value("c", "0")), _COUNT_MAX)
    if not count:
        count = max(limit_ms // interval_ms, 1) if limit_ms else _ENDLESS_COUNT
    out = [f"PING {host} ({address}) {size}({size + 28}) bytes of data.\n"]
    failure = wire.ping(address)
    gateway = _gateway(wire, address) if options.value("t") == "1" else ""
    place = address if host == address else f"{found.name} ({address})"
    times = _times(count)
    is_quiet = options.has("q")
    errors = 0
    for index in range(count):
        if gateway:
            errors += 1
            out.append(f"From {gateway} icmp_seq={index + 1} Time to live exceeded\n")
        elif not failure:
            if not is_quiet:
                out.append(
                    f"{size + 8} bytes from {place}: icmp_seq={index + 1} ttl=64 time={times[index]:.3f} ms\n"
                )
        elif failure == "arp" or failure in _ICMP:
            source = wire.own_address if failure == "arp" else place
            errors += 1
            out.append(f"From {source} icmp_seq={index + 1} {_ICMP.get(failure, _ICMP[UNREACHABLE])}\n")
        if index + 1 < count and sleep(process, interval_ms):
            break
    spent_ms = (count - 1) * interval_ms
    if gateway:
        failure = TIMEOUT
    if failure and not errors:
        sleep(process, int(float(options.value("W", "10")) * 1000))
    out.append(f"\n--- {host} ping statistics ---\n")
    if failure:
        extra = f" +{errors} errors," if errors else ""
        out.append(f"{count} packets transmitted, 0 received,{extra} 100% packet loss, time {spent_ms}ms\n\n")
        return Output("".join(out), "", 1)
    average = sum(times) / count
    deviation = (max(sum(each * each for each in times) / count - average * average, 0)) ** 0.5
    out.append(
        f"{count} packets transmitted, {count} received, 0% packet loss, time {spent_ms}ms\n"
        f"rtt min/avg/max/mdev = {min(times):.3f}/{average:.3f}/{max(times):.3f}/{deviation:.3f} ms\n"
    )
    return Output("".join(out))


def run_busybox(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox ping.

    Source: tests/golden/programs/busybox-upstream, nettools.
    """
    try:
        options = parse_options(argv[1:], "c:W:w:i:s:t:I:p:qA46", {})
    except UsageProblem as problem:
        return Output("", f"ping: {problem.text}\n{BANNER}{_BUSYBOX_USAGE}", 1)
    if not options.operands:
        return Output("", BANNER + _BUSYBOX_USAGE, 1)
    host = options.operands[0]
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        return Output("", f"ping: bad address '{host}'\n", 1)
    address = found.addresses[0]
    size = int(options.value("s", "56"))
    out = [f"PING {host} ({address}): {size} data bytes\n"]
    if process.user != "root":
        return Output("".join(out), "ping: permission denied (are you root?)\n", 1)
    interval_ms = int(float(options.value("i", "1")) * 1000)
    limit_ms = int(float(options.value("w")) * 1000) if options.has("w") else 0
    count = min(int(options.value("c", "0")), _COUNT_MAX)
    if not count:
        count = max(limit_ms // interval_ms, 1) if limit_ms else _ENDLESS_COUNT
    failure = wire.ping(address)
    times = _times(count)
    for index in range(count):
        if not failure and not options.has("q"):
            out.append(f"{size + 8} bytes from {address}: seq={index} ttl=64 time={times[index]:.3f} ms\n")
        if index + 1 < count and sleep(process, interval_ms):
            break
    out.append(f"\n--- {host} ping statistics ---\n")
    if failure:
        sleep(process, int(float(options.value("W", "10")) * 1000))
        out.append(f"{count} packets transmitted, 0 packets received, 100% packet loss\n")
        return Output("".join(out), "", 1)
    out.append(
        f"{count} packets transmitted, {count} packets received, 0% packet loss\n"
        f"round-trip min/avg/max = {min(times):.3f}/{sum(times) / count:.3f}/{max(times):.3f} ms\n"
    )
    return Output("".join(out))
