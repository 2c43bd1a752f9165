"""Roles, policy, consent and audit over HTTP with version 2 of the official Python library as it comes."""

from adapter import Python2
from permissions import run_over_http

run_over_http(Python2, is_stateless=True)
