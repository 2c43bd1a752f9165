"""Values of other packages, recognised by their attributes. None of these packages is imported here."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_picture(value: Any) -> bool:
    """An image of Pillow or a figure of matplotlib."""
    module = value.__class__.__module__
    if module.startswith("PIL."):
        return hasattr(value, "save")
    return module.startswith("matplotlib.") and hasattr(value, "savefig")


def png_of(picture: Any) -> bytes:
    """Such an image as PNG."""
    return _written(picture.savefig if hasattr(picture, "savefig") else picture.save, picture)


def _written(save: Any, value: Any) -> bytes:
    import io

    buffer = io.BytesIO()
    # PNG does not support these colour modes.
    if getattr(value, "mode", "") in ("CMYK", "YCbCr", "HSV", "LAB", "F"):
        save = value.convert("RGB").save
    save(buffer, format="png")
    return buffer.getvalue()


def is_frame(value: Any) -> bool:
    """A data frame of pandas or polars."""
    return hasattr(value, "columns") and (hasattr(value, "to_dicts") or hasattr(value, "to_json"))


def _with_index(frame: Any) -> Any:
    """A data frame of pandas with its index as a column. A plain row number is dropped."""
    index = frame.index
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return frame
    try:
        return frame.reset_index()
    except ValueError:  # a column has the name of the index
        return frame.rename_axis(index=[None] * index.nlevels).reset_index()


def plain_data(value: Any) -> Any:
    """Data frames as lists of rows, arrays as lists, numbers of numpy as numbers. Raises TypeError for anything else."""
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    if hasattr(value, "to_json") and hasattr(value, "index"):
        import json

        if hasattr(value, "columns"):
            return json.loads(_with_index(value).to_json(date_format="iso", orient="records"))
        return json.loads(value.to_json(date_format="iso"))
    module = type(value).__module__.partition(".")[0]
    if module in ("numpy", "polars", "torch") and module in sys.modules:
        for way in ("tolist", "to_list", "item"):
            if hasattr(value, way):
                return getattr(value, way)()
    raise TypeError("%s is not JSON" % type(value).__name__)
