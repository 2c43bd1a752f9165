"""Logs in with version 2 of the official Python library, with and without sessions."""

from adapter import Python2
from login import run_logins
from mcp.shared.auth import AuthorizationCodeResult


class Automatic(Python2):
    @staticmethod
    def come_back(code, state, issuer):
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)


class Handshake(Automatic):
    mode = "legacy"


run_logins(Automatic, Handshake)
