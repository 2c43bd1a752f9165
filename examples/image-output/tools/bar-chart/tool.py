#!/usr/bin/env python3
"""Draws a bar chart. The result has the picture, and a text for models and people who cannot see it."""

import base64
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / ".lib"))
from png import png

BACKGROUND = (255, 255, 255)
LINE = (90, 90, 90)
COLOURS = [(66, 133, 244), (219, 68, 55), (244, 180, 0), (15, 157, 88)]
MARGIN = 10


def draw(values, width, height):
    rows = [[BACKGROUND] * width for _ in range(height)]

    def fill(left, top, right, bottom, colour):
        for row in rows[top:bottom]:
            row[left:right] = [colour] * (right - left)

    floor, room = height - MARGIN, height - 2 * MARGIN
    step = (width - 2 * MARGIN) / len(values)
    highest = max(values) or 1
    for place, value in enumerate(values):
        left, right = MARGIN + int(place * step + step * 0.1), MARGIN + int(place * step + step * 0.9)
        fill(left, floor - round(room * value / highest), max(right, left + 1), floor, COLOURS[place % len(COLOURS)])
    fill(MARGIN, floor, width - MARGIN, floor + 1, LINE)
    return rows


given = json.load(sys.stdin)
bars = given["bars"]
picture = png(draw([bar["value"] for bar in bars], given.get("width", 480), given.get("height", 240)))
described = ", ".join(f"{bar['label']} {bar['value']:g}" for bar in bars)
result = {
    "content": [
        {"type": "image", "data": base64.b64encode(picture).decode(), "mimeType": "image/png"},
        {"type": "text", "text": f"Bars from left to right: {described}"},
    ]
}
json.dump(result, sys.stdout)
