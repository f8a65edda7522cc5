"""A scripted chat-completions endpoint for tests.

`ChatScript.handle` serves requests in memory; `chat_server` serves them on a loopback port.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Body = dict[str, Any]
Answer = Callable[[Body], httpx.Response]
"""Makes a response from a request's body."""


def completion(text: str, tokens: int | None = 50) -> httpx.Response:
    """Return a complete answer."""
    body: Body = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    if tokens is not None:
        body["usage"] = {"total_tokens": tokens}
    return httpx.Response(200, json=body)


def first_legal(body: Body) -> httpx.Response:
    """Play the first legal move listed in the last message."""
    question = body["messages"][-1]["content"]
    [legal] = [line for line in question.splitlines() if "The legal moves are: " in line]
    return completion(f"I begin with the first one.\nmove: {legal.split(': ')[1].split()[0]}")


class ChatScript:
    """Answers in order, repeating the last one. `asked` contains the request bodies."""

    def __init__(self, *answers: Answer | httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[Body] = []
        self.headers: list[httpx.Headers] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer a request in memory; raise the script's exceptions."""
        self.headers.append(request.headers)
        return self.answer(json.loads(request.content))

    def answer(self, body: Body) -> httpx.Response:
        self.asked.append(body)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return answer
        return answer(body)


@contextlib.contextmanager
def chat_server(script: ChatScript) -> Iterator[str]:
    """Serve a script on a loopback port; yield the API's base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            script.headers.append(httpx.Headers(dict(self.headers)))
            answer = script.answer(body)
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()
