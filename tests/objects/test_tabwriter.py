import gzip
import json
from pathlib import Path

import pytest

from env_core.objects.tabwriter import TabWriter

GOLDEN = Path(__file__).parents[1] / "golden" / "l0"


def describe_writer():
    return TabWriter(0, 8, 2, " ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a\tb\n", "a  b\n"),
        ("Name:\tweb\nNamespace:\tshop\n", "Name:       web\nNamespace:  shop\n"),
        ("a\tb\tc\naaa\tbbb\n", "a    b  c\naaa  bbb\n"),
        ("a\t\tb\n", "a    b\n"),
        ("x\ty\nplain\nlonger\tz\n", "x  y\nplain\nlonger  z\n"),
        ("a\tb\n\fcccc\td\n", "a  b\n\ncccc  d\n"),
        ("a\tb", "a  b"),
        ("é\tb\nab\tc\n", "é   b\nab  c\n"),
        ("a\t\n", "a  \n"),
    ],
)
def test_cells_are_aligned_as_text_tabwriter_does(text, expected):
    writer = describe_writer()
    writer.write(text)
    assert writer.flush() == expected


def test_remembered_widths_outlive_a_flush():
    writer = TabWriter(6, 4, 3, " ", remember_widths=True)
    writer.write("NAME\tREADY\na-rather-long-name\t1/1\n")
    writer.flush()
    writer.write("web\t0/1\n")
    assert writer.flush() == "web                  0/1\n"


def test_kubectl_get_recordings_keep_their_layout():
    """The recorded one-row tables are rebuilt from their cells."""
    columns = json.loads(gzip.decompress((GOLDEN / "printer_columns.json.gz").read_bytes()))
    matched, wrong = 0, []
    with gzip.open(GOLDEN / "printers.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            shown = [
                (column["name"].upper(), cell)
                for column, cell in zip(columns[record["key"]], record["cells"], strict=True)
                if not column.get("priority")
            ]
            writer = TabWriter(remember_widths=True)
            writer.write("\t".join(name for name, _ in shown) + "\n")
            writer.write("\t".join(str(cell) for _, cell in shown) + "\n")
            if writer.flush() == record["text"]:
                matched += 1
            else:
                wrong.append(record["id"])
    assert matched >= 215, wrong[:5]
