"""``progress`` and ``log``: messages of a function while it works."""

from __future__ import annotations

from .call_context import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, Optional, TypeVar

    T = TypeVar("T")


class _Progress:
    """``progress(3, 10, "reading")``, or ``for item in progress.each(items)``."""

    def __call__(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """Reports progress; ``done`` must increase. Raises `Cancelled` if the call was cancelled."""
        current().progress(done, total, message)

    def each(
        self, items: Iterable[T], *, total: Optional[float] = None, message: Optional[str] = None
    ) -> Iterator[T]:
        """Iterates over ``items`` and reports each finished one. ``{}`` in the message is the item."""
        if total is None:
            count: Any = getattr(items, "__len__", None)
            total = count() if count else None
        call = current()
        for done, item in enumerate(items, 1):
            yield item
            call.progress(done, total, message.replace("{}", str(item)) if message else None)


class _Log:
    """``log.info("…")``; named values make it an object: ``log.info("imported", rows=12)``."""

    def __call__(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("info", message, logger, values)

    def debug(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("debug", message, logger, values)

    def info(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("info", message, logger, values)

    def notice(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("notice", message, logger, values)

    def warning(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("warning", message, logger, values)

    def error(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("error", message, logger, values)

    def critical(self, message: Any, *, logger: Optional[str] = None, **values: Any) -> None:
        self._send("critical", message, logger, values)

    def _send(self, level: str, message: Any, logger: Optional[str], values: Any) -> None:
        call = current()
        data = {"message": message, **values} if values else message
        call.log(level, data, logger or call.name or None)


progress = _Progress()
log = _Log()
