"""A worker process, ``python -m kibitz.workers.worker``, with a line of JSON per task and answer.

It answers on the original standard output; the output of tasks goes to standard error. SIGTERM
cancels the running task, which stops the servers and bots started by it, and ends the process.
"""

from __future__ import annotations

import json
import os
import sys

from kibitz.process.event_loop import run
from kibitz.workers.tasks import answer


def main() -> None:
    """Run the tasks from standard input one by one until it is closed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the output of tasks must not get into the answers
    for line in sys.stdin:
        request = json.loads(line)
        result = run(answer(request["task"], request["given"]))
        answers.write(f"{json.dumps(result)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
