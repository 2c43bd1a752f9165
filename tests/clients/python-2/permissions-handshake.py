"""Roles, policy, consent and audit over HTTP with version 2 of the official Python library with the handshake."""

from adapter import Python2
from permissions import run_over_http


class Handshake(Python2):
    mode = "legacy"


run_over_http(Handshake, is_stateless=False)
