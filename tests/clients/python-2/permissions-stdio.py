"""Policy, consent and audit over standard streams with version 2 of the official Python library as it comes."""

from adapter import Python2
from permissions import run_over_stdio

run_over_stdio(Python2)
