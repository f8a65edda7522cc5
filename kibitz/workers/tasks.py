"""The tasks of workers by name: functions on plain data. Their errors are sent as answers."""

from __future__ import annotations

import asyncio

from kibitz.workers.port import Json


async def answer(task: str, given: Json) -> Json:
    """Run a task; return ``{"ok": ...}``, or ``{"error": sentence}`` if it raised."""
    try:
        return {"ok": await _carry_out(task, given)}
    except Exception as error:  # noqa: BLE001 - it is raised again at the sender
        return {"error": f"{task}: {str(error) or type(error).__name__}"}


async def _carry_out(task: str, given: Json) -> Json:
    from kibitz_training.experiments import TASKS

    if task in TASKS:
        return await asyncio.to_thread(TASKS[task](), given)
    # Imported last, because trainings do not need the arena's models.
    from kibitz.workers import blocks
    from kibitz_arena.runner.block_task import BLOCKS

    if task == BLOCKS:
        return await blocks.play(given)
    raise ValueError(f"unknown worker task {task!r}")
