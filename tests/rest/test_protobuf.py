"""Protobuf bodies: what an encoder by the same field numbers writes comes back, and noise is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.apiserver.schema import schema_for
from env_core.rest.protobuf import MAGIC, ProtobufError, decode, envelope


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 0x7F:
        out += bytes((number & 0x7F | 0x80,))
        number >>= 7
    return out + bytes((number,))


def text(number, data):
    data = data if isinstance(data, bytes) else data.encode()
    return varint(number << 3 | 2) + varint(len(data)) + data


def whole(number, value):
    return varint(number << 3) + varint(value)


def wrapped(api_version, kind, raw):
    return MAGIC + text(1, text(1, api_version) + text(2, kind)) + text(2, raw)


def numbers(api_version, kind, *path):
    group, _, version = api_version.rpartition("/")
    struct_type = schema_for(group, version, kind)
    for name in path[:-1]:
        go_type = struct_type.fields[name].type
        while go_type.kind in ("ptr", "slice"):
            go_type = go_type.element
        struct_type = go_type.struct
    return struct_type.fields[path[-1]].protobuf[0]


def config_map(name, data):
    metadata = text(numbers("v1", "ConfigMap", "metadata", "name"), name)
    entries = b"".join(text(2, text(1, key) + text(2, value)) for key, value in data.items())
    return wrapped("v1", "ConfigMap", text(1, metadata) + entries)


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=5))
def test_reads_what_was_written(name, data):
    name, data = (
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for value in (name, data)
    )
    decoded = decode(config_map(name, data), ("", "v1", "ConfigMap"))
    assert decoded["kind"] == "ConfigMap"
    assert decoded["metadata"] == ({"name": name} if name else {})
    assert decoded.get("data", {}) == data


@given(st.binary(max_size=80))
def test_refuses_noise(noise):
    try:
        decode(MAGIC + noise, ("", "v1", "Pod"))
    except ProtobufError:
        return


def test_reads_numbers_lists_and_special_types():
    container = (
        text(1, "c")
        + text(2, "nginx")
        + text(numbers("v1", "Pod", "spec", "containers", "ports"), whole(3, 80))
    )
    limits = text(1, text(1, "cpu") + text(2, text(1, "100m")))
    container += text(numbers("v1", "Pod", "spec", "containers", "resources"), limits)
    spec = text(numbers("v1", "Pod", "spec", "containers"), container)
    spec += whole(numbers("v1", "Pod", "spec", "terminationGracePeriodSeconds"), -1)
    created = text(numbers("v1", "Pod", "metadata", "creationTimestamp"), whole(1, 1_767_603_600))
    raw = text(1, text(1, "p") + created) + text(2, spec)
    decoded = decode(wrapped("v1", "Pod", raw), ("", "v1", "Pod"))
    assert decoded["metadata"] == {"name": "p", "creationTimestamp": "2026-01-05T09:00:00Z"}
    assert decoded["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "100m"}},
            }
        ],
        "terminationGracePeriodSeconds": -1,
    }


def test_reads_inlined_unions_and_either_or_values():
    # A probe's handler and a volume's source are inlined in JSON, and messages of their own here.
    get = text(1, "/healthz") + text(2, whole(1, 1) + text(3, "http"))
    probe = text(1, text(2, get))
    container = text(1, "c") + text(numbers("v1", "Pod", "spec", "containers", "livenessProbe"), probe)
    raw = text(1, b"") + text(2, text(numbers("v1", "Pod", "spec", "containers"), container))
    decoded = decode(wrapped("v1", "Pod", raw), ("", "v1", "Pod"))
    assert decoded["spec"]["containers"][0]["livenessProbe"] == {
        "httpGet": {"path": "/healthz", "port": "http"}
    }


def test_leaves_out_what_go_leaves_out():
    # Empty texts, null times: a typed client sends them all.
    raw = text(1, text(1, "x") + text(3, "") + text(8, b""))
    decoded = decode(wrapped("v1", "ConfigMap", raw), ("", "v1", "ConfigMap"))
    assert decoded["metadata"] == {"name": "x"}


def test_says_what_is_no_protobuf():
    with pytest.raises(ProtobufError, match="expected prefix"):
        envelope(b"{}")
    with pytest.raises(ProtobufError, match="unexpected EOF"):
        decode(MAGIC + text(1, b"")[:-1] + struct.pack(">B", 0x7F), ("", "v1", "Pod"))
