"""Names in messages, compared with what GNU coreutils 9.1 printed."""

import pytest

from env_core.shell._quoting import quoted_name
from tests.shell.shellkit import run

SHOWN = {
    "": "''",
    "web.log": "web.log",
    "no pe": "'no pe'",
    "no'pe": '"no\'pe"',
    'no"pe': "'no\"pe'",
    "no$pe": "'no$pe'",
    "no:pe": "'no:pe'",
    "no~pe": "no~pe",
    "~x": "'~x'",
    "x#": "x#",
    "a=b": "'a=b'",
    "a{b": "a{b",
    "{": "'{'",
    "a]b": "a]b",
    "a[b": "'a[b'",
    "a\\b": "'a\\b'",
    "a'b\"c": "'a'\\''b\"c'",
    "a\tb": "'a'$'\\t''b'",
    "a\t": "'a'$'\\t'",
    "a@b+c": "a@b+c",
}


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_a_name_is_quoted_where_a_shell_would_need_it(name, shown):
    assert quoted_name(name) == shown


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("cat ''", "cat: '': No such file or directory\n"),
        ("cat 'no pe'", "cat: 'no pe': No such file or directory\n"),
        ("sort ''", "sort: cannot read: '': No such file or directory\n"),
        ("head ''", "head: cannot open '' for reading: No such file or directory\n"),
        ("grep x ''", "grep: : No such file or directory\n"),
        ("sed p ''", "sed: can't read : No such file or directory\n"),
        ("ls ''", "ls: cannot access '': No such file or directory\n"),
        ("touch ''", "touch: cannot touch '': No such file or directory\n"),
        ("mkdir -p ''", "mkdir: cannot create directory '': No such file or directory\n"),
        ("jq . ''", "jq: error: Could not open file : No such file or directory\n"),
        ("cat < ''", "sh: 1: cannot open : No such file\n"),
        ("echo a > ''", "sh: 1: cannot create : Directory nonexistent\n"),
    ],
)
def test_an_empty_name_is_no_file(line, text):
    output = run(line)
    assert (output.stdout, output.stderr) == ("", text)
    assert output.exit_code != 0


def test_cd_to_an_empty_name_stays():
    assert run("cd /tmp; cd '' && pwd").stdout == "/tmp\n"
