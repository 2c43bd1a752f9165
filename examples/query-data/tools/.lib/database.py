"""Opens the database so that a query can do no harm."""

import sqlite3
import time
from contextlib import closing

from tool import DATA

SECONDS = 2
HARMLESS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def open_database():
    """Read-only for SQLite itself, with a time limit. Use it in a `with`, which closes it."""
    database = sqlite3.connect(f"file:{DATA}/shop.db?mode=ro", uri=True)
    deadline = time.monotonic() + SECONDS
    database.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    return closing(database)


def allow_only_reading(database):
    """Refuses everything else that a statement could do, such as ATTACH of another file, or a PRAGMA."""

    def decide(action, first, second, *_):
        loads = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
        return sqlite3.SQLITE_OK if action in HARMLESS and not loads else sqlite3.SQLITE_DENY

    database.set_authorizer(decide)
