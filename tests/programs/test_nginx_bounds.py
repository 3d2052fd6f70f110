from __future__ import annotations

import pytest

from env_core.programs import nginx
from tests.programs.served import Served

CONF = "/etc/nginx/conf.d/default.conf"
EXPLODING = "^/((a+)+)+$"
LONG = f"/{'a' * 60}!"


def _served(server: str, http: str = "") -> Served:
    config = {CONF: f"{http}server {{\n  listen 80;\n  server_name localhost;\n{server}\n}}\n"}
    return Served(
        nginx.PROGRAM, "nginx:1.27", {"argv": ["nginx", "-g", "daemon off;"], "config": config, "env": {}}
    )


def _get(served: Served, path: str) -> str:
    output = served.run(f"curl -s -o /dev/null -w %{{http_code}} http://10.96.10.1:80{path}")
    assert output is not None
    return output.stdout


@pytest.mark.parametrize(
    "server",
    [
        f"location ~ {EXPLODING} {{ return 200 ok; }}",
        f"location / {{ rewrite {EXPLODING} /x; return 200 ok; }}",
    ],
)
def test_an_expression_that_could_explode_ends_at_pcre_match_limit(server):
    served = _served(server)
    assert _get(served, LONG) == "500"
    text = f'pcre2_match() failed: -47 on "{LONG}" using "{EXPLODING}", client: 10.244.1.5'
    assert any("[alert]" in line and text in line for _, line in served.log)


def test_a_server_name_that_could_explode_closes_the_connection():
    served = _served("return 200 ok;", "server { listen 80; server_name ~^((a+)+)+$; }\n")
    output = served.run(f"curl -s -H 'Host: {'a' * 60}!' http://10.96.10.1:80/")
    assert output is not None
    assert (output.stdout, output.exit_code) == ("", 52)


def test_long_texts_of_a_costly_expression_end_at_the_limit_and_short_ones_match():
    served = _served("location ~ a.*b.*c.*d.*e.*f.*g$ { return 201; }\nlocation / { return 200; }")
    assert _get(served, "/abcdefg") == "201"
    assert _get(served, "/" + "abcdef" * 200) == "500"


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/x.PNG", "202"), ("/api/7", "203"), ("/api/x", "204"), ("/named/ab", "205")]
)
def test_usual_expressions_match_as_pcre(path, status):
    served = _served(
        r"location ~* \.(png|jpe?g)$ { return 202; }"
        r"location ~ ^/api/\d+$ { return 203; }"
        r"location ~ ^/named/(?<word>[a-z]++)$ { return 205; }"
        "location / { return 204; }"
    )
    assert _get(served, path) == status


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ("location / { rewrite ^/(a /b; }", 'pcre2_compile() failed: missing closing parenthesis in "^/(a"'),
        ("location ~ ^/a)b { return 200; }", 'unmatched closing parenthesis in "^/a)b" at ")b"'),
        ("server_name ~[; return 200;", 'missing terminating ] for character class in "["'),
        ("location / { try_files $uri =abc; }", 'invalid code "abc"'),
        ("location / { return \u00b2 x; }", 'invalid return code "\u00b2"'),
        ("location / { return 1000 x; }", 'invalid return code "1000"'),
        ("client_max_body_size $size;", '"client_max_body_size" directive invalid value'),
        (f"client_max_body_size {'9' * 5000};", '"client_max_body_size" directive invalid value'),
    ],
)
def test_what_nginx_cannot_use_stops_its_start_with_its_own_words(server, text):
    served = _served(server)
    assert served.launch.exit is not None
    assert any("[emerg]" in line.text and text in line.text for line in served.launch.log)


@pytest.mark.parametrize(
    ("http", "text"),
    [
        ("upstream u { server 10.0.0.1 max_fails=x; }\n", 'invalid parameter "max_fails=x"'),
        ("limit_req_zone $uri zone=z:1m rate=0r/s;\n", 'invalid rate "rate=0r/s"'),
        ("limit_req_status ok;\n", '"limit_req_status" directive invalid number'),
    ],
)
def test_numbers_that_are_none_stop_its_start(http, text):
    served = _served("return 200;", http)
    assert any("[emerg]" in line.text and text in line.text for line in served.launch.log)


def test_variables_that_double_run_out_of_memory_and_cycles_are_empty():
    doubling = "set $a0 xxxxxxxx;" + "".join(f"set $a{n + 1} $a{n}$a{n};" for n in range(60))
    served = _served(f"{doubling}\nadd_header X-All $a60 always;\nlocation / {{ return 200 $a60; }}")
    output = served.run("curl -s http://10.96.10.1:80/")
    assert output is not None
    assert output.exit_code == 52
    assert any("[emerg]" in line and "failed (12: Cannot allocate memory)" in line for _, line in served.log)
    cycle = _served("set $a $b-a; set $b $a-b;\nlocation / { return 200 <$a>; }")
    output = cycle.run("curl -s http://10.96.10.1:80/")
    assert output is not None
    assert output.stdout == "<-b-a>"
