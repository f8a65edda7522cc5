"""Repairs a damaged database by accepting its losses, on the operator's request.

Only unreadable ledger lines are deleted. Damaged matches and lobbies get the state ``lost``. Their
data remains on disk, but they are not loaded, and checks do not report them again.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from kibitz_server.maintenance.check import Findings
from kibitz_server.storage.sqlite import journal, watermark
from kibitz_server.storage.sqlite.connection import (
    connect_writer,
    lock,
    resolve_path,
    transaction,
    translate_errors,
)


def accept_losses(path: Path, findings: Findings) -> None:
    """Accept the losses in `findings`; no server may have the database open.

    Raises `StoreError`.
    """
    path = resolve_path(path)
    with lock(path), contextlib.closing(connect_writer(path)) as db, translate_errors(path):
        journal.recover(db)
        with transaction(db):
            db.execute("UPDATE stream SET state = 'lost' WHERE state = 'damaged'")
            for problem in findings.problems:
                if problem.about in {"match", "lobby"}:
                    db.execute(
                        "UPDATE stream SET state = 'lost', reason = coalesce(reason, ?)"
                        " WHERE key = ?",
                        (problem.text, problem.name),
                    )
                elif problem.about == "ledger":
                    db.execute("DELETE FROM ledger WHERE place = ?", (int(problem.name),))
        watermark.accept_loss(db, path)
