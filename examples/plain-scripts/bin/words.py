#!/usr/bin/env python3
"""Counts the words of text files."""

import argparse
import collections
import re

parser = argparse.ArgumentParser(description="Counts the words of text files.")
parser.add_argument("files", nargs="+", help="the files to read")
parser.add_argument("--least", type=int, default=1, help="only words with this many letters")
parser.add_argument("--order", choices=["count", "name"], default="count", help="how they are sorted")
arguments = parser.parse_args()

counts = collections.Counter()
for name in arguments.files:
    with open(name, encoding="utf-8") as file:
        counts.update(word for word in re.findall(r"\w+", file.read().lower()) if len(word) >= arguments.least)
by_count = lambda pair: (-pair[1], pair[0])
for word, count in sorted(counts.items(), key=by_count if arguments.order == "count" else None):
    print(f"{count:6} {word}")
