"""All example projects, served to version 2 of the official Python library when it is told to use the handshake."""

from tour import tour

tour(mode="legacy")
