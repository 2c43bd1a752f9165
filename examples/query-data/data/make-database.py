#!/usr/bin/env python3
"""Creates shop.db, the sample database, from scratch."""

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers, day TEXT NOT NULL,
                       amount REAL NOT NULL, paid INTEGER NOT NULL);
"""
CUSTOMERS = [(1, "Ada Example", "DE"), (2, "Ben Example", "FR"), (3, "Chloé Example", "FR"), (4, "Dora Example", "ES")]
INVOICES = [
    (1, 1, "2026-01-05", 39.9, 1),
    (2, 2, "2026-01-07", 49.0, 1),
    (3, 1, "2026-01-09", 25.2, 1),
    (4, 4, "2026-01-15", 39.9, 0),
    (5, 3, "2026-02-01", 37.9, 1),
    (6, 2, "2026-02-19", 16.8, 0),
]

file = Path(__file__).with_name("shop.db")
file.unlink(missing_ok=True)
with sqlite3.connect(file) as database:
    database.executescript(SCHEMA)
    database.executemany("INSERT INTO customers VALUES (?, ?, ?)", CUSTOMERS)
    database.executemany("INSERT INTO invoices VALUES (?, ?, ?, ?, ?)", INVOICES)
database.close()
