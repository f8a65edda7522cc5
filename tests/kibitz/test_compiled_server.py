from __future__ import annotations

from kibitz.compiled_server import is_compiled
from kibitz_server.match import engine


def test_it_is_compiled_where_the_engine_has_no_python_code() -> None:
    assert is_compiled() == (not hasattr(engine.MatchEngine.handle, "__code__"))
