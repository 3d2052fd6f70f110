import gzip
import json
from pathlib import Path

import pytest

from env_core.kubectl.output import customcolumns, gotemplate, sortby
from env_core.kubectl.output.customcolumns import CustomColumnsError
from env_core.kubectl.output.gotemplate import TemplateError
from env_core.kubectl.output.sortby import SortError, SortFatal
from env_core.objects import jsonpath
from env_core.objects.jsonpath import JSONPathError

L0 = Path(__file__).parents[2] / "golden" / "l0"
OBJECT = {
    "metadata": {"name": "x", "labels": {"a": "b"}},
    "spec": {"replicas": 3, "big": 12345678, "null": None, "list": [1, 2, 3], "text": "a<b"},
}


def _records(topic):
    return [
        json.loads(line) for line in gzip.decompress((L0 / f"{topic}.jsonl.gz").read_bytes()).splitlines()
    ]


def _jsonpath(record, subject):
    try:
        printer = jsonpath.printer_for(record["template"])
    except JSONPathError as error:
        return {"parseError": str(error)}
    if record.get("nondeterministic"):
        printer.render(subject)
        return {"nondeterministic": True}
    got = {}
    try:
        got["output"] = printer.render(subject)
    except JSONPathError as error:
        got |= {"error": str(error), "output": ""}
    try:
        printer.render(subject, allow_missing=False)
    except JSONPathError as error:
        got |= {"strictError": str(error), "strictOutput": ""}
    return got


def _go_template(record, subject):
    try:
        return {"output": gotemplate.printer_for(record["template"]).render(subject)}
    except TemplateError as error:
        return {"error": str(error), "output": error.output} if error.output else {"parseError": str(error)}


def _custom_columns(record, subject):
    try:
        columns = customcolumns.parse_columns(record["template"])
    except CustomColumnsError as error:
        return {"parseError": str(error)}
    try:
        return {"output": customcolumns.render(columns, subject, no_headers=record["noHeaders"])}
    except CustomColumnsError as error:
        return {"error": str(error), "output": error.output}


def _relaxed(record, _):
    try:
        return {"output": jsonpath.relaxed(record["in"])}
    except JSONPathError as error:
        return {"error": str(error)}


REPLAYS = {
    "jsonpath": (_jsonpath, 114),
    "go-template": (_go_template, 32),
    "custom-columns": (_custom_columns, 55),
    "relaxed": (_relaxed, 15),
}


@pytest.mark.parametrize("output_format", REPLAYS)
def test_recorded_outputs_match(output_format):
    replay, floor = REPLAYS[output_format]
    subjects = json.loads(gzip.decompress((L0 / "output_data.json.gz").read_bytes()))
    records = [record for record in _records("output_formats") if record["format"] == output_format]
    differences = []
    for record in records:
        got = replay(record, subjects.get(record.get("data")))
        want = {
            field: value
            for field, value in record.items()
            if field not in ("id", "format", "data", "template", "noHeaders", "in")
        }
        if got != want:
            differences.append((record["id"], str(got)[:500], str(want)[:500]))
    assert len(records) - len(differences) >= floor, differences[:3]


def test_recorded_orders_match():
    records = _records("sort_by")
    differences = []
    for record in records:
        objects, field = record["objects"], record["field"]
        try:
            if record["id"].startswith("table/"):
                rows = sortby.sort_rows([(item,) for item in objects], field, lambda row: row[0])
                got = {"order": [row[0]["metadata"]["name"] for row in rows]}
            else:
                got = {"order": [item["metadata"]["name"] for item in sortby.sort_objects(objects, field)]}
        except SortFatal as error:
            got = {"fatal": str(error)}
        except SortError as error:
            got = {"error": str(error)}
        if got != {key: value for key, value in record.items() if key not in ("id", "field", "objects")}:
            differences.append((record["id"], got))
    assert len(records) - len(differences) >= 35, differences[:3]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.spec.null}", "<nil>"),
        (
            "{.spec.text}{.spec}",
            'a<b{"big":12345678,"list":[1,2,3],"null":null,"replicas":3,"text":"a\\u003cb"}',
        ),
        ("{.spec.list[1:]}", "2 3"),
        ("{.metadata.labels.*}", "b"),
        ("{true}{1}{2.50}", "true12.5"),
        ("{'a\\'b'}", "a'b"),
        ("{range .spec.list[*]}{@}{end}!", "123!"),
    ],
)
def test_jsonpath_prints_values_as_go_does(template, text):
    assert jsonpath.printer_for(template).render(OBJECT) == text


def test_jsonpath_as_json_prints_each_result_as_a_list():
    assert jsonpath.printer_for("{.spec.list}").render(OBJECT, as_json=True) == (
        "[\n    [\n        1,\n        2,\n        3\n    ]\n]\n"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{.spec.list[?(@=='x')]}", "incompatible types for comparison"),
        ("{.spec.list[0:9]}", "array index out of bounds: index 8, length 3"),
        ("{.spec.list[2:1]}", "starting index 2 is greater than ending index 1"),
        ("{.spec[0]}", "map[string]interface {} is not array or slice"),
        ("{.spec.text[?(@.a)]}", "a<b is not array or slice and cannot be filtered"),
    ],
)
def test_jsonpath_failures_say_why(template, message):
    with pytest.raises(JSONPathError) as caught:
        jsonpath.printer_for(template).render(OBJECT)
    assert f"Error executing template: {message}. Printing" in str(caught.value)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{.spec.big}}", "1.2345678e+07"),
        ("{{eq .spec.replicas 3.0}}", "true"),
        ('{{printf "%d" .spec.replicas}}', "%!d(float64=3)"),
        ("{{range $i, $e := .spec.list}}{{if $i}},{{end}}{{$e}}{{end}}", "1,2,3"),
        ("{{range .spec.list}}{{if eq . 2.0}}{{break}}{{end}}{{.}}{{end}}", "1"),
        ("{{range .spec.list}}{{if eq . 2.0}}{{continue}}{{end}}{{.}}{{end}}", "13"),
        ('{{define "a"}}[{{.}}]{{end}}{{template "a" .metadata.name}}', "[x]"),
        ('{{block "b" .metadata}}<{{.name}}>{{end}}', "<x>"),
        ("{{if .nope}}a{{else if .metadata}}b{{else}}c{{end}}", "b"),
        ("{{with .nope}}a{{else with .metadata}}{{.name}}{{end}}", "x"),
        ('a  {{- "b" -}}  c', "abc"),
        ("{{$x := 1}}{{range .spec.list}}{{$x = .}}{{end}}{{$x}}", "3"),
        ('{{slice "abcd" 1 3}} {{index "abc" 1}}', "bc 98"),
        ('{{print 1 2 "a" 3}} {{println 1 "b"}}', "1 2a3 1 b\n"),
        ("{{and 0 .nope}} {{or .nope 7}} {{not .nope}}", "0 7 true"),
    ],
)
def test_go_templates_run_as_in_go(template, text):
    assert gotemplate.printer_for(template).render(OBJECT) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "{{eq .spec.replicas 3}}",
            "<eq .spec.replicas 3>: error calling eq: incompatible types for comparison: float64 and int",
        ),
        ("{{.metadata.name.foo}}", "<.metadata.name.foo>: can't evaluate field foo in type interface {}"),
        ("{{.spec.null.x}}", "<.spec.null.x>: nil pointer evaluating interface {}.x"),
        ("{{index .spec.list 3}}", "error calling index: reflect: slice index out of range"),
        ("{{len .nope}}", "error calling len: reflect: call of reflect.Value.Type on zero Value"),
        ('{{template "zz"}}', '<{{template "zz"}}>: template "zz" not defined'),
        ("{{range .spec.replicas}}{{end}}", "range can't iterate over 3"),
        ("{{base64decode .spec.list}}", "wrong type for value; expected string; got []interface {}"),
        ("{{not}}", "wrong number of args for not: want 1 got 0"),
    ],
)
def test_go_template_failures_point_at_the_node(template, message):
    with pytest.raises(TemplateError) as caught:
        gotemplate.printer_for(template).render(OBJECT)
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{1 | 2}}", "non executable command in pipeline stage 2"),
        ("{{$x}}", 'undefined variable "$x"'),
        ("{{if}}x{{end}}", "missing value for if"),
        ("{{break}}", "{{break}} outside {{range}}"),
        ("{{(.a}}", "unclosed left paren"),
        ('{{"a}}', "unterminated quoted string"),
        ("{{/* x", "unclosed comment"),
        ("{{range $a, $b, $c := .x}}{{end}}", "too many declarations in range"),
        ("{{.a..b}}", "unexpected <.> in operand"),
    ],
)
def test_wrong_go_templates_are_refused_in_gos_words(template, message):
    with pytest.raises(TemplateError) as caught:
        gotemplate.printer_for(template)
    assert str(caught.value) == f"error parsing template {template}, template: output:1: {message}"


def test_missing_keys_are_errors_only_when_asked():
    template = gotemplate.printer_for("{{.nope}}")
    assert template.render(OBJECT) == "<no value>"
    with pytest.raises(TemplateError, match='map has no entry for key "nope"'):
        template.render(OBJECT, allow_missing=False)


HOSTILE = [
    "{{range 190000}}{{range 190000}}{{print $}}{{end}}{{end}}",
    '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}',
    '{{define "a"}}' + "{{if 1}}" * 50 + '{{template "a" .}}' + "{{end}}" * 50 + '{{end}}{{template "a" .}}',
    "{{" + "(" * 500 + "1" + ")" * 500 + "}}",
    '{{printf "%999999999d" 1}}',
    "{{if 1}}" * 5000,
]


@pytest.mark.parametrize("template", HOSTILE)
def test_hostile_go_templates_end(template):
    try:
        text = gotemplate.printer_for(template).render(OBJECT)
    except TemplateError as error:
        text = error.output
    assert len(text) < 5_000_000


@pytest.mark.parametrize(
    "template",
    [
        "{range .items[*]}{range $.items[*]}{..}{end}{end}" + "{range .items[*]}" * 100,
        "{[?(" * 60 + ")]}" * 60,
        "{range .items[*]}" * 60,
        "{" + "." * 1000 + "}",
    ],
)
def test_hostile_jsonpaths_end(template):
    subject = {"items": [{"items": [{"a": "b" * 20}] * 20}] * 20}
    try:
        text = jsonpath.printer_for(template).render(subject)
    except JSONPathError as error:
        text = str(error)
    assert len(text) < 5_000_000


def test_a_columns_file_has_headers_and_paths():
    columns = customcolumns.parse_columns_file("NAME  N\nmetadata.name {.spec.replicas}\n")
    assert customcolumns.render(columns, OBJECT) == "NAME   N\nx      3\n"
    with pytest.raises(CustomColumnsError, match="missing spec line"):
        customcolumns.parse_columns_file("NAME\n")
    with pytest.raises(CustomColumnsError, match=r"number of headers \(2\) and field specifications \(1\)"):
        customcolumns.parse_columns_file("A B\nx\n")
