"""Functions as version 2 of the official Python library sees them when it finds out by itself what the server speaks."""

from about_functions import run

run("auto", version="2026-07-28")
