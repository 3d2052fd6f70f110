"""ip, ifconfig, netstat and ss: the interface of a place, and what listens there.

Source: tests/golden/programs/shell 197-203 (iproute2 6.1, net-tools 2.10, BusyBox 1.35).
"""

from __future__ import annotations

from typing import Final

from env_core.shell._clients._wire import Wire
from env_core.shell.context import Process
from env_core.world import Output

_OBJECTS: Final = {
    "a": "address", "ad": "address", "addr": "address", "address": "address",
    "l": "link", "link": "link", "r": "route", "ro": "route", "route": "route",
}  # fmt: skip
_VERBS: Final = (
    "show",
    "list",
    "ls",
    "lst",
    "add",
    "del",
    "delete",
    "set",
    "change",
    "replace",
    "get",
    "flush",
)
_WRITES: Final = ("add", "del", "delete", "set", "change", "replace", "flush")
_SPELLED: Final = {"address": "address", "link": "link", "route": "route"}


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run ip."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    kind = _OBJECTS.get(words[0]) if words else "address"
    if kind is None:
        if process.is_busybox:
            return Output("", f"ip: invalid argument '{words[0]}' to 'ip'\n", 1)
        return Output("", f'Object "{words[0]}" is unknown, try "ip help".\n', 1)
    rest = words[1:]
    verb = rest[0] if rest else "show"
    if verb not in _VERBS:
        if process.is_busybox:
            return Output("", f"ip: invalid argument '{verb}' to 'ip'\n", 1)
        return Output("", f'Command "{verb}" is unknown, try "ip {_SPELLED[kind]} help".\n', 255)
    if verb in _WRITES:
        own = "ip: " if process.is_busybox else ""
        return Output("", f"{own}RTNETLINK answers: Operation not permitted\n", 2)
    device = next((word for word in rest[1:] if word not in ("dev", "up")), "")
    if device and kind != "route" and device not in ("eth0", "lo"):
        text = (
            f"ip: can't find device '{device}'"
            if process.is_busybox
            else f'Device "{device}" does not exist.'
        )
        return Output("", f"{text}\n", 1)
    return Output(_shown(kind, device, wire.own_address))


def _shown(kind: str, device: str, address: str) -> str:
    gateway = address.rpartition(".")[0] + ".1"
    if kind == "route":
        network = address.rpartition(".")[0] + ".0/24"
        return f"default via {gateway} dev eth0 \n{network} dev eth0 proto kernel scope link src {address} \n"
    loop = (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN qlen 1000\n"
        "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
    )
    own = (
        "2: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP \n"
        f"    link/ether {_hardware(address)} brd ff:ff:ff:ff:ff:ff\n"
    )
    if kind == "address":
        loop += "    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n"
        broadcast = address.rpartition(".")[0] + ".255"
        own += f"    inet {address}/24 brd {broadcast} scope global eth0\n       valid_lft forever preferred_lft forever\n"
    return {"lo": loop, "eth0": own}.get(device, loop + own)


def _hardware(address: str) -> str:
    parts = [int(part) for part in address.split(".") if part.isdecimal()]
    return (
        ":".join(f"{part:02x}" for part in (0x0A, 0x58, *parts)) if len(parts) == 4 else "0a:58:00:00:00:00"
    )


def run_ifconfig(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run ifconfig."""
    names = [word for word in argv[1:] if not word.startswith("-")]
    if names and names[0] not in ("eth0", "lo"):
        if process.is_busybox:
            return Output(
                "", f"ifconfig: {names[0]}: error fetching interface information: Device not found\n", 1
            )
        return Output("", f"{names[0]}: error fetching interface information: Device not found\n", 1)
    address, hardware = wire.own_address, _hardware(wire.own_address)
    shown = {
        "eth0": (
            f"eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        inet {address}  netmask 255.255.255.0"
            f"  broadcast 0.0.0.0\n        inet6 fe80::858:aff:fef4:105  prefixlen 64  scopeid 0x20<link>\n"
            f"        ether {hardware}  txqueuelen 1000  (Ethernet)\n" + _counters(2101, 240123, 1987, 201877)
        ),
        "lo": (
            "lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n        inet 127.0.0.1  netmask 255.0.0.0\n"
            "        inet6 ::1  prefixlen 128  scopeid 0x10<host>\n        loop  txqueuelen 1000  (Local Loopback)\n"
            + _counters(48, 3092, 48, 3092)
        ),
    }
    return Output("".join(f"{text}\n" for name, text in shown.items() if not names or name == names[0]))


def _counters(got: int, got_bytes: int, sent: int, sent_bytes: int) -> str:
    return (
        f"        RX packets {got}  bytes {got_bytes} ({got_bytes / 1024:.1f} KiB)\n"
        "        RX errors 0  dropped 0  overruns 0  frame 0\n"
        f"        TX packets {sent}  bytes {sent_bytes} ({sent_bytes / 1024:.1f} KiB)\n"
        "        TX errors 0  dropped 0 overruns 0  carrier 0  collisions 0\n"
    )


def run_netstat(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run netstat: the listening ports of the place."""
    letters = "".join(word[1:] for word in argv[1:] if word.startswith("-"))
    has_programs = "p" in letters
    if process.is_busybox:
        head = "Active Internet connections (only servers)\nProto Recv-Q Send-Q Local Address           Foreign Address         State      "
        head += " PID/Program name    \n" if has_programs else "\n"
        note = (
            "netstat: showing only processes with your user ID\n"
            if has_programs and process.user != "root"
            else ""
        )
    else:
        head = "Active Internet connections (only servers)\nProto Recv-Q Send-Q Local Address           Foreign Address         State      "
        head += " PID/Program name    \n" if has_programs else "\n"
        note = (
            "(Not all processes could be identified, non-owned process info\n"
            " will not be shown, you would have to be root to see it all.)\n"
            if has_programs and process.user != "root"
            else ""
        )
    rows = "".join(
        f"tcp        0      0 {f'0.0.0.0:{port}':<23} {'0.0.0.0:*':<23} LISTEN     "
        + (f" 1/{name:<18}\n" if has_programs else "\n")
        for port, name in wire.own_ports()
    )
    return Output(head + rows, note)


def run_ss(_process: Process, argv: list[str], wire: Wire) -> Output:
    """Run ss: the listening ports of the place."""
    del argv
    ports = wire.own_ports()
    if not ports:
        return Output("State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n")
    rows = "".join(
        f"LISTEN 0      4096         0.0.0.0:{port:<6}     0.0.0.0:*          \n" for port, _ in ports
    )
    return Output("State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n" + rows)


def run_traceroute(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox traceroute."""
    words = argv[1:]
    hosts = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and before not in ("-w", "-m", "-q", "-p", "-f", "-i", "-s")
    ]
    if process.user != "root":
        return Output("", "traceroute: socket: Operation not permitted\n", 1)
    host = hosts[0] if hosts else ""
    found = wire.resolve(host)
    if not found.addresses:
        return Output("", f"traceroute: bad address '{host}'\n", 1)
    address = found.addresses[0]
    text = words[words.index("-m") + 1] if "-m" in words[:-1] else "30"
    most = int(text) if text.isdecimal() else 30
    failure = wire.ping(address)
    network = wire.own_address.rpartition(".")[0]
    hops = [address] if address.rpartition(".")[0] == network else [f"{network}.1", address]
    lines = [f"traceroute to {host} ({address}), {most} hops max, 46 byte packets\n"]
    for number in range(1, most + 1):
        hop = hops[min(number, len(hops)) - 1]
        if failure and hop == address:
            lines.append(f"{number:2d}  *  *  *\n")
            continue
        lines.append(f"{number:2d}  {hop}  0.011 ms  0.008 ms  0.006 ms\n")
        if hop == address:
            break
    return Output("".join(lines))
