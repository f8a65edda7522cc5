"""What docker-compose.yml runs, run here: one after the other, with paths of this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from tests.tools.command import Kibitz

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def test_the_services_come_up_and_the_bots_play(kibitz: Kibitz) -> None:
    house, data = kibitz.directory / "house", kibitz.directory / "data"
    house.mkdir()

    def here(text: str, url: str = "") -> str:
        moved = text.replace("/house/", f"{house}/").replace("/data/", f"{data}/")
        return re.sub(r"ws://server:\d+", url, moved)

    with ExitStack() as stack:
        words = [here(word) for word in SERVICES["server"]["command"][1:]]
        words[words.index("--port") + 1] = "0"
        server = stack.enter_context(kibitz.start(*words, "--guests", "nobody", "--json"))
        url = server.json()["url"]
        subprocess.run(
            ["sh", "-c", here((ROOT / "docker" / "open-house.sh").read_text(), url)],
            check=True,
            timeout=60,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )
        lobby = (house / "lobby").read_text().strip()
        for name in ("greedy", "planner"):
            line = here(SERVICES[name]["command"][-1], url).partition("kibitz ")[2]
            bot = re.sub(r"\$\$\(.*\)", lobby, line).split()
            stack.enter_context(kibitz.start(*bot))
        watching = ["--plain", "--server", url, "--token-file", f"{house}/host.token"]
        watch = stack.enter_context(kibitz.start("watch", lobby, *watching))
        begins = watch.until("begins")
        assert "greedy" in begins
        assert "planner" in begins
        watch.until(" 4 ")
