"""The network clients that a shell offers: as seen from outside the cluster, or from within a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from env_core.dataplane._model import Source
from env_core.dataplane.network import Network
from env_core.programs import Image, Run, Runtime
from env_core.programs._images import commands_of, is_musl
from env_core.shell._clients import (
    busybox_nslookup,
    busybox_wget,
    curl,
    dig,
    ip,
    mysql,
    mysqladmin,
    nc,
    nslookup,
    openssl,
    ping,
    promql,
    promtool,
    psql,
    rabbitmqctl,
    redis_cli,
    wget,
)
from env_core.shell._clients._wire import NetworkWire, Wire
from env_core.shell._disk_free import df
from env_core.shell.context import Process, Program, Talk, Talking
from env_core.world import Output

Client = Callable[[Process, list[str], Wire], Output]

_GNU: Mapping[str, Client] = {
    "curl": curl.run,
    "wget": wget.run,
    "nslookup": nslookup.run,
    "dig": dig.run,
    "host": dig.run_host,
    "getent": dig.run_getent,
    "nc": nc.run,
    "netcat": nc.run,
    "ping": ping.run,
    "redis-cli": redis_cli.run,
    "psql": psql.run,
    "pg_isready": psql.run_isready,
    "pg_dump": psql.run_dump,
    "rabbitmqctl": rabbitmqctl.run,
    "rabbitmq-diagnostics": rabbitmqctl.run,
    "mysql": mysql.run,
    "mariadb": mysql.run,
    "mysqladmin": mysqladmin.run,
    "mariadb-admin": mysqladmin.run,
    "openssl": openssl.run,
    "ip": ip.run,
    "ifconfig": ip.run_ifconfig,
    "netstat": ip.run_netstat,
    "ss": ip.run_ss,
}
_ON_ALPINE = (
    "curl", "dig", "host", "redis-cli", "psql", "pg_isready", "pg_dump", "rabbitmqctl", "rabbitmq-diagnostics", "getent", "openssl",
)  # fmt: skip
_BUSYBOX: Mapping[str, Client] = {
    **{name: client for name, client in _GNU.items() if name in _ON_ALPINE},
    "wget": busybox_wget.run,
    "nslookup": busybox_nslookup.run,
    "nc": nc.run_busybox,
    "ping": ping.run_busybox,
    "telnet": nc.run_telnet,
    "ip": ip.run,
    "ifconfig": ip.run_ifconfig,
    "netstat": ip.run_netstat,
    "traceroute": ip.run_traceroute,
}


_DEBIAN_BUSYBOX: Mapping[str, Client] = {
    **_BUSYBOX,
    "wget": busybox_wget.run_debian,
    "nc": nc.run_debian,
}

CLIENTS: Mapping[str, Mapping[str, Client]] = {
    "gnu": _GNU,
    "busybox": _BUSYBOX,
    "busybox of Debian": _DEBIAN_BUSYBOX,
}
"""The clients by name, by the flavour of the tools beside them."""


_ORACLE: Mapping[str, Client] = {"mysql": mysql.run_oracle, "mysqladmin": mysqladmin.run_oracle}
_TALKING: Mapping[Client, Callable[[Process, list[str], Wire], Talk]] = {
    psql.run: psql.talk, mysql.run: mysql.talk, mysqladmin.run: mysqladmin.talk, mysql.run_oracle: mysql.talk_oracle,
    mysqladmin.run_oracle: mysqladmin.talk_oracle,
}  # fmt: skip
"""Clients that others may run beside something else."""


def bound(client: Client, wire: Wire) -> Program:
    """Return a client as a program of one place."""
    talk = _TALKING.get(client)
    if talk is not None:
        return Talking(lambda process, argv: talk(process, argv, wire))

    def run(process: Process, argv: list[str]) -> Output:
        return client(process, argv, wire)

    return run


_OF_CONTAINERS = (
    "psql", "pg_isready", "pg_dump", "mysql", "mariadb", "mysqladmin", "mariadb-admin", "rabbitmqctl", "rabbitmq-diagnostics", "getent",
    "ip", "ifconfig", "netstat", "ss",
)  # fmt: skip
"""Clients that look at their own place: the terminal outside has none."""


def outside_programs(network: Network) -> dict[str, Program]:
    """Return the clients of a host on the nodes' network, outside the cluster."""
    wire = NetworkWire(network, network.outside())
    found = {name: bound(client, wire) for name, client in _GNU.items() if name not in _OF_CONTAINERS}
    found["promql"] = promql.bound(network.telemetry)
    found["promtool"] = promtool.run
    return found


def inside_programs(run: Run, network: Network, runtime: Runtime, image: Image) -> dict[str, Program]:
    """Return the clients that a container's image holds, bound to its pod."""
    del runtime
    container = run.container
    source = network.source_of_pod(container.namespace, container.pod)
    if source is None:
        source = Source(
            namespace=container.namespace, pod=container.pod, ip=container.pod_ip, uid=container.pod_uid
        )
    wire = NetworkWire(network, source, 1 if is_musl(container.image) else 2)
    clients = _BUSYBOX if image.base == "alpine" else _GNU
    known = commands_of(image)
    if image.repository == "mysql":
        clients = {**clients, **_ORACLE}
    found = {name: bound(client, wire) for name, client in clients.items() if name in known}
    if "df" in known:
        found["df"] = partial(df, run, network)
    if image.base == "alpine":
        # What an image brings beside BusyBox's applet of the same name is the full program.
        full = {name: _GNU[name] for name in ("wget", "nslookup", "ping", "nc") if name in image.binaries}
        found |= {name: bound(client, wire) for name, client in full.items()}
        found["busybox"] = partial(_busybox, found)
    elif "busybox" in image.binaries:
        own = {name: bound(client, wire) for name, client in _DEBIAN_BUSYBOX.items()}
        found["busybox"] = partial(_busybox, own)
    return found


def _busybox(clients: Mapping[str, Program], process: Process, argv: list[str]) -> Output:
    """Run `busybox APPLET …`."""
    if len(argv) < 2:
        return Output(f"{busybox_wget.BANNER}")
    program = clients.get(argv[1]) or process.programs.get(argv[1])
    if program is None or argv[1] == "busybox":
        return Output("", f"{argv[1]}: applet not found\n", 127)
    return program(process, argv[1:])
