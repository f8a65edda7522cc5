"""The messages to operators about an unusable PostgreSQL database."""

from __future__ import annotations

import psycopg
import pytest

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import describe

URL = PostgresURL("postgresql://ada:s3cret@db.example.org/games")
ERRORS = {
    'connection failed: FATAL:  password authentication failed for user "ada"': "the password",
    'FATAL:  database "games" does not exist': "create it with `createdb`",
    'FATAL:  role "ada" does not exist': "unknown user",
    "connection refused\n\tIs the server running? Connection refused": "no PostgreSQL server",
    "connection timeout expired": "the connection timed out",
    "FATAL:  the database system is starting up": "try again in a moment",
    "fe_sendauth: no password supplied": "PGPASSWORD",
    "something\nelse": "cannot be used: something else",
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_is_one_sentence_without_the_password(text: str) -> None:
    told = describe(URL, psycopg.OperationalError(text))
    assert told.startswith("'postgresql://ada@db.example.org/games' ")
    assert ERRORS[text] in told
    assert "\n" not in told
    assert "s3cret" not in told
