"""Logs in with version 1 of the official Python library."""

from adapter import Python1
from login import run_logins


class LogsIn(Python1):
    @staticmethod
    def come_back(code, state, issuer):
        return code, state


run_logins(LogsIn)
