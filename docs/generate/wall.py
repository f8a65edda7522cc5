"""Write docs/images/wall.svg, the demo's wall of games: `python -m docs.generate.wall`.

The picture differs between runs, because the demo's bots draw random seeds.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

import docs.generate
from kibitz.commands.demo import wall_app
from kibitz.local.demo_host import DemoHost
from kibitz.local.demo_programme import DEMO
from kibitz.process.event_loop import run
from kibitz.process.private_server import private_server
from kibitz_clients.tui.screens.wall import Preparation
from kibitz_protocol.client.client import Client

PICTURE = Path(docs.generate.__file__).parents[1] / "images" / "wall.svg"
COLUMNS: Final = 150
ROWS: Final = 46
SECONDS: Final = 30
"""Seconds that the demo plays before the screenshot."""
FONT_FACES: Final = re.compile(r"@font-face\s*{.*?}\s*", re.DOTALL)
"""Font declarations by Rich, which would load fonts from another host."""


async def draw() -> str:
    """Play the demo for `SECONDS` and return its wall as SVG."""
    preparation = Preparation()
    async with (
        private_server(options=["--pace", "1.2"], env={"KIBITZ_PLAIN": "1"}) as server,
        Client(server.url, name="demo", kind="human", agent="kibitz demo") as client,
        asyncio.TaskGroup() as group,
    ):
        host = DemoHost(client, DEMO, preparation, lambda _: None, endless=True)
        hosting = group.create_task(host.run())
        app = wall_app(server.url, preparation)
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            await pilot.pause(SECONDS)
            picture = app.export_screenshot(title="kibitz demo")
        hosting.cancel()
    return FONT_FACES.sub("", picture)


async def main() -> int:
    """Write the picture and return the exit status."""
    PICTURE.write_text(await draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main()))
