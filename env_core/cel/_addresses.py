"""Reads addresses and prefixes as Go's net/netip does, with its texts.

Source: Go's net/netip; k8s.io/apiserver v0.37 pkg/cel/library/ip.go, cidr.go.
"""

from __future__ import annotations

from ipaddress import IPv6Address

from env_core.objects.problems import quoted


class AddressProblem(Exception):
    """The text is no address; the text of this is Go's."""


def parse_address(text: str) -> str:
    """Return an address that `ipaddress` reads.

    Raises:
        AddressProblem: with Kubernetes' text.
    """
    try:
        address = _parse(text)
    except AddressProblem as problem:
        why = f"ParseAddr({quoted(text)}): {problem}"
        head = f"IP Address {quoted(text)} parse error during conversion from string: "
        raise AddressProblem(head + why) from None
    if "%" in address:
        raise AddressProblem(f"IP address {quoted(text)} with zone value is not allowed")
    if ":" in address and IPv6Address(address).ipv4_mapped is not None:
        raise AddressProblem(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def parse_prefix(text: str) -> tuple[str, int]:
    """Return the address and the length of a prefix.

    Raises:
        AddressProblem: with Kubernetes' text.
    """
    head = "network address parse error during conversion from string: "
    address_text, slash, bits_text = text.rpartition("/")
    if not slash:
        raise AddressProblem(f"{head}netip.ParsePrefix({quoted(text)}): no '/'")
    try:
        address = _parse(address_text)
    except AddressProblem as problem:
        raise AddressProblem(
            f"{head}netip.ParsePrefix({quoted(text)}): {_lower(problem, address_text)}"
        ) from None
    if "%" in address:
        why = "IPv6 zones cannot be present in a prefix"
        raise AddressProblem(f"{head}netip.ParsePrefix({quoted(text)}): {why}")
    digits = bits_text.isascii() and bits_text.isdigit() and not (len(bits_text) > 1 and bits_text[0] == "0")
    if not digits:
        why = f"bad bits after slash: {quoted(bits_text)}"
        raise AddressProblem(f"{head}netip.ParsePrefix({quoted(text)}): {why}")
    bits = int(bits_text)
    if bits > (128 if ":" in address else 32):
        raise AddressProblem(f"{head}netip.ParsePrefix({quoted(text)}): prefix length out of range")
    if ":" in address and IPv6Address(address).ipv4_mapped is not None:
        raise AddressProblem(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address, bits


def _lower(problem: AddressProblem, text: str) -> str:
    return f"ParseAddr({quoted(text)}): {problem}"


def _parse(text: str) -> str:
    for char in text:
        if char == ".":
            return _parse4(text)
        if char == ":":
            return _parse6(text)
        if char == "%":
            raise AddressProblem("missing IPv6 address")
    raise AddressProblem("unable to parse IP")


def _parse4(text: str) -> str:
    parts = text.split(".")
    for index, part in enumerate(parts):
        bad = next((char for char in part if char not in "0123456789"), "")
        if bad:
            at = text[sum(len(each) + 1 for each in parts[:index]) + part.index(bad) :]
            raise AddressProblem(f"unexpected character (at {quoted(at)})")
        if not part:
            rest = text[sum(len(each) + 1 for each in parts[:index]) :]
            where = f" (at {quoted(rest)})" if rest else ""
            raise AddressProblem(f"IPv4 field must have at least one digit{where}")
        if len(part) > 1 and part[0] == "0":
            raise AddressProblem("IPv4 field has octet with leading zero")
        if int(part[:4]) > 255:
            raise AddressProblem("IPv4 field has value >255")
        if index == 4:
            raise AddressProblem("IPv4 address too long")
    if len(parts) < 4:
        raise AddressProblem("IPv4 address too short")
    return text


def _parse6(text: str) -> str:
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise AddressProblem("zone must be a non-empty string")
    try:
        IPv6Address(address)
    except ValueError:
        raise AddressProblem(_why6(address)) from None
    return text


def _why6(text: str) -> str:
    groups = text.replace("::", ":").strip(":").split(":")
    for group in groups:
        bad = next((char for char in group if char not in "0123456789abcdefABCDEF."), "")
        if bad:
            at = quoted(text[text.index(bad) :])
            return (
                f"each colon-separated field must have at least one digit (at {at})"
                if group[0] == bad
                else (f"unexpected character, want colon (at {at})")
            )
        if len(group) > 4 and "." not in group:
            return f"each group must have 4 or less digits (at {quoted(text[text.index(group) :])})"
    if text.count("::") > 1:
        return "multiple :: in address"
    return "address string too short" if len(groups) < 8 else "trailing garbage after address"
