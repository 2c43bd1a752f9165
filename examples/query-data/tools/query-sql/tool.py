#!/usr/bin/env python3
"""One SELECT on the database."""

import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / ".lib"))
from database import SECONDS, allow_only_reading, open_database
from tool import answer, arguments, fail

given = arguments()
limit = given.get("limit", 100)

with open_database() as database:
    allow_only_reading(database)
    try:
        found = database.execute(given["sql"], given.get("values", []))
        rows = found.fetchmany(limit + 1)
    except (sqlite3.Error, sqlite3.Warning) as error:
        problem = str(error).rstrip(".")
        if problem == "interrupted":
            fail(f"The query took longer than {SECONDS} seconds. Ask for less, or filter earlier.")
        if problem == "not authorized":
            fail("Only a SELECT is allowed here: nothing can be changed, attached or set.")
        fail(f"SQLite says: {problem}. Use describe_data for the tables and their columns.")
    columns = [column[0] for column in found.description or []]

# Bytes are not JSON; all other SQLite values are.
plain = [[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows[:limit]]
answer({"columns": columns, "rows": plain, "more": len(rows) > limit})
