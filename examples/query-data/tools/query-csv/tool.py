#!/usr/bin/env python3
"""Filters, groups and adds up the rows of a CSV file."""

import csv
import sys
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / ".lib"))
from tool import answer, arguments, csv_file, fail

TESTS = {
    "equal": lambda cell, value: cell == value,
    "not_equal": lambda cell, value: cell != value,
    "less": lambda cell, value: order(cell) < order(value),
    "greater": lambda cell, value: order(cell) > order(value),
    "containing": lambda cell, value: value.casefold() in cell.casefold(),
}


def order(text):
    """Numbers by value and before everything else; dates such as 2026-01-31 sort correctly as text."""
    try:
        return (0, Decimal(text), "")
    except InvalidOperation:
        return (1, Decimal(0), text)


def number(text, column):
    try:
        return Decimal(text)
    except InvalidOperation:
        fail(f"The column {column} holds {text!r}, which is no number, and cannot be added up.")


def grouped(rows, column, summed):
    groups = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    for value in sorted(groups, key=order):
        group = {column: value, "rows": len(groups[value])}
        if summed:
            group[f"sum of {summed}"] = float(sum(number(row[summed], summed) for row in groups[value]))
        yield group


given = arguments()
with csv_file(given["file"]).open(newline="", encoding="utf-8") as lines:
    reader = csv.DictReader(lines)
    rows, columns = list(reader), reader.fieldnames

conditions = given.get("where", [])
group_by, summed = given.get("group_by"), given.get("sum")
if summed and not group_by:
    fail("`sum` needs `group_by`: the column whose values the sums are for.")
for column in [condition["column"] for condition in conditions] + [name for name in (group_by, summed) if name]:
    if column not in columns:
        fail(f"There is no column {column}. There are: {', '.join(columns)}.")

for condition in conditions:
    holds = TESTS[condition["is"]]
    rows = [row for row in rows if holds(row[condition["column"]], condition["value"])]
if group_by:
    rows = list(grouped(rows, group_by, summed))
answer({"rows": rows[: given.get("limit", 100)], "total": len(rows)})
