"""All example projects, served to version 2 of the official Python library as it comes: it finds the stateless era."""

from tour import tour

tour(mode="auto")
