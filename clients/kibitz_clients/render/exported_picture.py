"""Exported pictures: SVG as PNG, and a sequence of SVGs as an animated GIF.

The libraries for them are an extra (`kibitz[pictures]`), since only exports need them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

INSTALL: Final = "pip install 'kibitz[pictures]'"
GIF_WIDTH: Final = 480
"""The width of a GIF in pixels."""
GIF_STEP_MS: Final = 700
GIF_LAST_MS: Final = 4_000
"""Milliseconds for each step of a GIF, and for the last one before it repeats."""
PAPER: Final = "#fffdf8"
"""The color that fills the space below pictures that are shorter than the tallest one in a GIF."""


class MissingLibraryError(RuntimeError):
    """A raster library is not installed; the message says how to install it."""


def png(svg: str, width: int | None = None) -> bytes:
    """Return a picture as PNG, `width` pixels wide or in its own size.

    Text is drawn in the fonts of this machine. Raises `MissingLibraryError`.
    """
    try:
        import resvg_py
    except ImportError:
        raise MissingLibraryError(f"a PNG or a GIF needs resvg-py: {INSTALL}") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width))


def gif(svgs: Iterable[str]) -> bytes:
    """Return a sequence of pictures as an animated GIF. Raises `MissingLibraryError`."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingLibraryError(f"a GIF needs Pillow: {INSTALL}") from None
    pictures = [Image.open(io.BytesIO(png(svg, GIF_WIDTH))) for svg in svgs]
    height = max(picture.height for picture in pictures)
    frames = [_on_paper(picture, height) for picture in pictures]
    durations = [GIF_STEP_MS] * (len(frames) - 1) + [GIF_LAST_MS]
    return _encoded(frames, durations)


def _on_paper(picture: Any, height: int) -> Any:
    """Return a picture on an opaque background, padded to `height`."""
    from PIL import Image

    page = Image.new("RGB", (picture.width, height), PAPER)
    page.paste(picture, (0, 0), picture.convert("RGBA"))
    return page


def _encoded(frames: Sequence[Any], durations: Sequence[int]) -> bytes:
    out = io.BytesIO()
    first, *rest = frames
    first.save(out, "GIF", save_all=True, append_images=rest, duration=list(durations), loop=0)
    return out.getvalue()
