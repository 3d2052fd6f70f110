import pytest

from tests.shell.shellkit import run, stdout

TABLE = "NAME READY STATUS RESTARTS\nweb-1 1/1 Running 0\nweb-2 0/1 CrashLoopBackOff 12\ndb-0 1/1 Running 3\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("NR>1 && $4>2 {print $1, $4}", "web-2 12\ndb-0 3\n"),
        ("{n[$3]++} END {print n[\"Running\"], length(n)}", "2 3\n"),
        ("NR>1{s+=$4} END{print s, s/3}", "15 5\n"),
        ("!seen[$3]++ {print $3}", "STATUS\nRunning\nCrashLoopBackOff\n"),
        ("/web-1/,/web-2/{print $1}", "web-1\nweb-2\n"),
        ("END{print NR, NF, $NF}", "4 4 3\n"),
        ("NR==2{$2=\"x\"; print; print NF}", "web-1 x Running 0\n4\n"),
        ("NR==3{gsub(/[a-z]/,\"\"); print}", "-2 0/1 CLBO 12\n"),
        ("NR==2{n=split($2,q,\"/\"); print n, q[1]+q[2]}", "2 2\n"),
        ("NR==2{printf \"%-6s|%5.1f|%03d|%c|%%\\n\", $1, 2.25, 7, \"xyz\"}", "web-1 |  2.2|007|x|%\n"),
        ("BEGIN{print 2^10, 7%3, \"a\" \"b\", 1e6, 0.1+0.2, 100/3, 1==1.0, \"10\"<\"9\"}", "1024 1 ab 1000000 0.3 33.3333 1 1\n"),
        ("function f(x){return x*2} BEGIN{print f(4), substr(\"hello\",2,3), toupper(\"a\"), index(\"abc\",\"c\")}", "8 ell A 3\n"),
        ("BEGIN{while(i<3){i++; if(i==2)continue; print i}}", "1\n3\n"),
        ("match($1,/[0-9]+/){print RSTART, RLENGTH}", "5 1\n5 1\n4 1\n"),
        ("BEGIN{print length(\"abc\"), (1,2) in z, !x, -x}", "3 0 1 0\n"),
    ],
)  # fmt: skip
def test_awk_programs(program, expected):
    assert stdout(f"awk '{program}'", stdin=TABLE) == expected


def test_awk_options_and_output():
    assert (
        stdout("awk -F/ -v OFS=: 'NR>1{print $1,$2}' t | head -1", files={"/tmp/t": TABLE})
        == "web-1 1:1 Running 0\n"
    )
    assert stdout("awk '{print $1 > \"o\"}' t; wc -l < o", files={"/tmp/t": TABLE}) == "4\n"
    assert run("awk 'BEGIN{exit 3}'").exit_code == 3


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("'s/b/[&]/'", "a\n[b]\nc\n"),
        ("-n 2p", "b\n"),
        ("2d", "a\nc\n"),
        ("'$!N;s/\\n/+/'", "a+b\nc\n"),
        ("'1!G;h;$!d'", "c\nb\na\n"),
        ("-E 's/(a|b)/<\\1>/'", "<a>\n<b>\nc\n"),
        ("y/abc/xyz/", "x\ny\nz\n"),
        ("2q", "a\nb\n"),
        ("'/b/i\\\nnew'", "a\nnew\nb\nc\n"),
        ("'2c changed'", "a\nchanged\nc\n"),
        ("'1~2d'", "b\n"),
        ("'/a/,/b/s/^/x/'", "xa\nxb\nc\n"),
        ("-n '$='", "3\n"),
        ("'s/./\\U&/;s/$/!/'", "A!\nB!\nC!\n"),
        ("':a;N;$!ba;s/\\n/,/g'", "a,b,c\n"),
        ("-e 1d -e '$d'", "b\n"),
        ("'2!d'", "b\n"),
        ("'0,/a/d'", "b\nc\n"),
    ],
)
def test_sed_scripts(script, expected):
    assert stdout(f"sed {script}", stdin="a\nb\nc\n") == expected


def test_sed_edits_in_place():
    assert stdout("sed -i.bak s/a/b/ f; cat f f.bak", files={"/tmp/f": "a\n"}) == "b\na\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grep -o '[0-9]/[0-9]' t", "1/1\n0/1\n1/1\n"),
        ("grep -c Running t", "2\n"),
        ("grep -vE 'NAME|db' t | wc -l", "2\n"),
        ("grep -n -i RUNNING t", "2:web-1 1/1 Running 0\n4:db-0 1/1 Running 3\n"),
        ("grep -A1 web-1 t | tail -1", "web-2 0/1 CrashLoopBackOff 12\n"),
        ("grep -w -o web t | uniq", "web\n"),
        ("grep -m1 web t", "web-1 1/1 Running 0\n"),
        ("grep -P '\\d{2}$' t", "web-2 0/1 CrashLoopBackOff 12\n"),
        ("grep -e db -e NAME t | cut -d' ' -f1", "NAME\ndb-0\n"),
        ("grep -r Running . | head -1", "./t:web-1 1/1 Running 0\n"),
        ("sort -k4 -n -r t | head -2 | cut -d' ' -f1", "web-2\ndb-0\n"),
        ("sort -k3,3 -k1,1r t | awk '{print $1}'", "web-2\nweb-1\ndb-0\nNAME\n"),
        ("printf '1K\\n2M\\n3\\n' | sort -h", "3\n1K\n2M\n"),
        ("printf 'b\\na\\nb\\n' | sort | uniq -c", "      1 a\n      2 b\n"),
        (
            "column -t t | head -2",
            "NAME   READY  STATUS            RESTARTS\nweb-1  1/1    Running           0\n",
        ),
        ("tail -n +4 t; head -n -3 t", "db-0 1/1 Running 3\nNAME READY STATUS RESTARTS\n"),
        ("cut -c1-3 t | head -2", "NAM\nweb\n"),
        ("echo abc | tr a-c A-C; echo aabb | tr -s ab; echo a1 | tr -d 0-9", "ABC\nab\na\n"),
        ("seq 3 | paste -sd+; seq 2 | tac; seq -w 9 10", "1+2+3\n2\n1\n09\n10\n"),
        (
            "date -u +%Y-%m-%dT%H:%M:%SZ; date -d @0 -u +%s; date -d '1 hour ago' +%H",
            "2023-11-14T22:13:20Z\n0\n21\n",
        ),
        ("echo hi | base64; echo aGkK | base64 -d", "aGkK\nhi\n"),
        ("seq 4 | xargs -n2 echo; printf 'a\\nb\\n' | xargs -I{} echo '<{}>'", "1 2\n3 4\n<a>\n<b>\n"),
        ("basename /a/b.c .c; dirname /a/b", "b\n/a\n"),
        (
            "printf 'a\\nb\\n' > x; printf 'a\\nc\\n' > y; diff x y; diff -u x y | tail -3",
            "2c2\n< b\n---\n> c\n a\n-b\n+c\n",
        ),
        ("hostname; whoami; id -u; which jq nope", "toolbox\nroot\n0\n/usr/bin/jq\n"),
    ],
)
def test_text_tools(line, expected):
    assert run(line, files={"/tmp/t": TABLE}).stdout == expected


def test_watch_shows_one_round():
    output = run("watch -n 5 echo hi")
    assert output.stdout.startswith("Every 5.0s: echo hi")
    assert output.stdout.endswith("\n\nhi\n")
