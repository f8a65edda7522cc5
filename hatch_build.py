"""The build hook of the compiled wheel: some modules as C extensions, made by mypyc.

Off by default; `HATCH_BUILD_HOOK_ENABLE_CUSTOM=1` turns it on (docs/how-to/compiled.md). The
modules are listed in `pyproject.toml`. Their sources are in the wheel as well: tracebacks show
them, checkpoints know their code by them, and Python takes the extension where there are both.

It is a hook of our own because hatch-mypyc knows one source directory, of which there are eight
here, moves `pyproject.toml` away while it compiles, and leaves the extensions in the tree.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileModules(BuildHookInterface[Any]):
    """Compiles the modules of `modules` in a temporary directory."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put the extensions into the wheel."""
        if version == "editable":
            raise ValueError("an editable install runs from its sources: build a wheel instead")
        # The files stay until the wheel is written.
        self._made = tempfile.TemporaryDirectory(prefix="kibitz-mypyc-")
        compile_modules(Path(self.root), self.config["modules"], Path(self._made.name))
        extensions = Path(self._made.name, "lib")
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in extensions.rglob("*"):
            if path.is_file():
                build_data["force_include"][str(path)] = str(path.relative_to(extensions))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made."""
        self._made.cleanup()


def compile_modules(root: Path, modules: list[str], work: Path) -> None:
    """Compile modules of the project at `root` into extensions below `work`/lib."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    before = Path.cwd()
    os.chdir(root)  # mypy finds its configuration and the packages from here
    try:
        extensions = mypycify(
            ["--no-incremental", *modules],
            opt_level="3",
            debug_level="0",
            group_name="kibitz",
            target_dir=str(work / "c"),
        )
        # `setup` would read `pyproject.toml`, which is hatchling's; its command is enough.
        command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = str(work / "lib"), str(work / "objects")
        command.ensure_finalized()
        command.run()
    finally:
        os.chdir(before)
