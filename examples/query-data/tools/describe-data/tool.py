#!/usr/bin/env python3
"""Describes the data that can be queried."""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / ".lib"))
from database import open_database
from tool import DATA, answer


def tables():
    with open_database() as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for (name,) in names:
            quoted = '"' + name.replace('"', '""') + '"'
            columns = [f"{column[1]} {column[2]}" for column in database.execute(f"PRAGMA table_info({quoted})")]
            (rows,) = database.execute(f"SELECT count(*) FROM {quoted}").fetchone()
            yield {"name": name, "columns": columns, "rows": rows}


def csv_files():
    for file in sorted(DATA.glob("*.csv")):
        with file.open(newline="", encoding="utf-8") as lines:
            rows = csv.reader(lines)
            yield {"name": file.stem, "columns": next(rows, []), "rows": sum(1 for _ in rows)}


answer({"tables": list(tables()), "csv_files": list(csv_files())})
