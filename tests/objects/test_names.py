"""Names, labels, ports and addresses are accepted and refused by the API server's rules."""

from __future__ import annotations

import pytest

from env_core.objects import names


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (names.is_dns1123_label, "web-1", "web.1"),
        (names.is_dns1123_label, "1", "-"),
        (names.is_dns1123_subdomain, "a.b-c", "a..b"),
        (names.is_dns1035_label, "a1", "1a"),
        (names.is_wildcard_dns1123_subdomain, "*.example.com", "*example.com"),
        (names.is_qualified_name, "example.com/My_Name", "/name"),
        (names.is_valid_label_value, "", "-x"),
        (names.is_path_segment_name, "system:node", "a/b"),
        (names.is_port_name, "http-2", "http--2"),
        (names.is_config_map_key, "..data.json"[2:], "..data"),
        (names.is_env_var_name, "with space", "A=B"),
        (names.is_strict_env_var_name, "my.env-NAME", "1A"),
        (names.is_http_header_name, "X-Probe", "X Probe"),
        (names.is_percent, "25%", "25"),
        (names.is_domain_prefixed_path, "acme.io/foo", "acme.io"),
        (names.is_ip, "2001:db8::1", "010.0.0.1"),
        (names.is_cidr, "10.0.0.0/8", "10.0.0.0/33"),
    ],
)
def test_each_rule_tells_good_from_bad(check, good: str, bad: str) -> None:  # type: ignore[no-untyped-def]
    assert check(good) == []
    assert len(check(bad)) == 1


def test_a_subdomain_is_told_that_labels_have_no_dots() -> None:
    assert names.is_dns1123_label("a.b") == ["must not contain dots"]


def test_every_complaint_about_a_label_key_is_reported() -> None:
    assert len(names.is_qualified_name("Bad_/ bad")) == 2
    assert names.is_qualified_name("a/b/c")[0].startswith("a valid label key must consist of")


def test_port_numbers_and_ids_have_their_ranges() -> None:
    assert names.is_port_number(65535) == []
    assert names.is_port_number(0) == ["must be between 1 and 65535, inclusive"]
    assert names.is_id_number(-1) == ["must be between 0 and 2147483647, inclusive"]
