"""How the mysql client prints results: with tabs, in boxes, or one column on each line.

Source: MariaDB/server client/mysql.cc (print_tab_data, print_table_data, print_table_data_vertically);
tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

from env_core.shell._clients._mysql_connection import Answer

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\0": "\\0"})


def tabbed(answer: Answer, *, has_names: bool, is_raw: bool) -> str:
    """Return rows with tabs between their columns."""
    lines = ["\t".join(answer.names)] if has_names else []
    lines += [
        "\t".join(
            "NULL" if value is None else value if is_raw else value.translate(_ESCAPES) for value in row
        )
        for row in answer.rows
    ]
    return "".join(f"{line}\n" for line in lines)


def boxed(answer: Answer, *, has_names: bool) -> str:
    """Return rows in a box."""
    cells = [["NULL" if value is None else value for value in row] for row in answer.rows]
    widths = [
        max(
            [
                len(name) if has_names else 0,
                *(len(row[at]) for row in cells),
                4 if any(row[at] is None for row in answer.rows) else 0,
            ]
        )
        for at, name in enumerate(answer.names)
    ]
    rule = "+" + "".join("-" * (width + 2) + "+" for width in widths) + "\n"
    out = [rule]
    if has_names:
        out.append(
            "|" + "".join(f" {name.ljust(width)} |" for name, width in zip(answer.names, widths)) + "\n"
        )
        out.append(rule)
    for row in cells:
        parts = (
            f" {value.rjust(width) if is_number else value.ljust(width)} |"
            for value, width, is_number in zip(row, widths, answer.numbers)
        )
        out.append("|" + "".join(parts) + "\n")
    return "".join([*out, rule])


def vertical(answer: Answer) -> str:
    """Return rows with one column on each line."""
    width = max((len(name) for name in answer.names), default=0)
    out: list[str] = []
    for number, row in enumerate(answer.rows, start=1):
        out.append(f"{'*' * 27} {number}. row {'*' * 27}\n")
        out += [
            f"{name.rjust(width)}: {'NULL' if value is None else value}\n"
            for name, value in zip(answer.names, row)
        ]
    return "".join(out)
