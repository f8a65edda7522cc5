"""A PostgreSQL in memory on virtual time, for the statements that a server makes.

It keeps the promises that the server relies on, as PostgreSQL's manual has them (chapter 13):

* a statement at READ COMMITTED sees what was committed when it begins, and what its own
  transaction has written; at REPEATABLE READ a transaction sees one state;
* who changes a row locks it until the transaction ends; FOR SHARE, FOR UPDATE, advisory locks and
  keys of rows that are being inserted wait likewise, and after the wait the statement is
  evaluated anew; SKIP LOCKED leaves such rows out; a circle of waits ends with an error;
* unique keys; an error in a transaction fails all that follows in it, but for ROLLBACK;
* a commit takes its time and may be there although its answer is not; whoever closes a connection
  does not stop what the database has received on it;
* a transaction that waits for its next statement is ended where the connection asked for that.

Statements are known by their text (`_STATEMENTS`): one that is not raises, so that a statement
that is changed in the server has to be looked at here as well. What every statement of a server
does against a real database is tested in `tests/server/storage`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import psycopg
from psycopg import errors as sqlstate

from kibitz_server.storage.postgres import followed_streams, hall_lines, notifications
from kibitz_server.storage.postgres import nodes as postgres_nodes
from tests.tools.virtual_time import Scheduler, TimerHandle

Key: TypeAlias = Any
Row: TypeAlias = Mapping[str, Any]
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""The values of a statement, by their places or by their names."""
Place: TypeAlias = tuple[str, Key]
"""A table and the key of a row in it, or what else can be locked."""
Mode: TypeAlias = Literal["share", "exclusive"]
BLOCK = 4096
IDLE_S = 4.0
"""Seconds after which a transaction is ended that waits for its next statement."""


class MustWait(Exception):
    """A lock is another transaction's."""

    def __init__(self, holders: Collection[Transaction]) -> None:
        super().__init__("a lock is another transaction's")
        self.holders = holders


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    rowcount: int = 0


def found(*rows: tuple[Any, ...]) -> Result:
    return Result(list(rows), len(rows))


@dataclass(frozen=True, slots=True)
class Commit:
    """What a transaction has changed, and which node's it was."""

    node: str
    before: Mapping[Place, Row | None]
    after: Mapping[Place, Row | None]


@dataclass(frozen=True, slots=True)
class Notice:
    """What NOTIFY sends (`psycopg.Notify`)."""

    channel: str
    payload: str


class Transaction:
    """What a session has changed and locked, and not committed."""

    def __init__(self, database: Database, *, explicit: bool) -> None:
        self.database = database
        self.explicit = explicit
        self.failed = False
        self.over = False
        self.writes: dict[Place, Row | None] = {}
        self.notices: dict[Notice, None] = {}
        """What it notifies others of, the same once (as NOTIFY does)."""
        self.listens: set[str] = set()
        self.waits_for: Collection[Transaction] = ()
        self._snapshot: dict[str, dict[Key, Row]] | None = None

    # --- rows -------------------------------------------------------------------------------

    def fix_snapshot(self) -> None:
        self._snapshot = dict(self.database.tables)

    def get(self, table: str, key: Key) -> Row | None:
        if (table, key) in self.writes:
            return self.writes[table, key]
        return (self._snapshot or self.database.tables)[table].get(key)

    def rows(self, table: str) -> list[tuple[Key, Row]]:
        """Return the rows that are seen here, by their keys."""
        committed = (self._snapshot or self.database.tables)[table]
        own = {key: row for (name, key), row in self.writes.items() if name == table}
        if not own:
            return list(committed.items())
        return [(key, row) for key, row in {**committed, **own}.items() if row is not None]

    def insert(self, table: str, key: Key, row: Row) -> bool:
        """Write a new row; return False where its key is there."""
        self.lock((table, key))
        if self.get(table, key) is not None:
            return False
        self.writes[table, key] = row
        return True

    def require_insert(self, table: str, key: Key, row: Row) -> None:
        if not self.insert(table, key, row):
            raise sqlstate.UniqueViolation(f"duplicate key {key} in {table}")

    def update(self, table: str, key: Key, **changed: Any) -> None:
        row = self.get(table, key)
        assert row is not None
        self.writes[table, key] = {**row, **changed}

    def delete(self, table: str, key: Key) -> None:
        self.writes[table, key] = None

    def change(self, table: str, which: Callable[[Row], bool]) -> Iterator[Key]:
        """Yield the keys of rows, each locked."""
        for key, row in self.rows(table):
            if which(row):
                self.lock((table, key))
                yield key

    # --- locks ------------------------------------------------------------------------------

    def lock(self, place: Place, mode: Mode = "exclusive") -> None:
        """Lock until the end of the transaction. Raises `MustWait`, `DeadlockDetected`."""
        others = self._others(place, mode)
        if others:
            if any(self in _all_waited_for(each) for each in others):
                raise sqlstate.DeadlockDetected("deadlock detected")
            raise MustWait(others)
        held = self.database.locks.setdefault(place, {})
        if held.get(self) != "exclusive":
            held[self] = mode

    def locked(self, place: Place) -> bool:
        """Whether somebody else's lock would have to be waited for."""
        return bool(self._others(place, "exclusive"))

    def _others(self, place: Place, mode: Mode) -> list[Transaction]:
        held = self.database.locks.get(place, {})
        return [
            each
            for each, theirs in held.items()
            if each is not self and "exclusive" in (mode, theirs)
        ]


def _all_waited_for(transaction: Transaction) -> set[Transaction]:
    seen: set[Transaction] = set()
    left = [transaction]
    while left:
        each = left.pop()
        if each not in seen:
            seen.add(each)
            left += [other for other in each.waits_for if not other.over]
    return seen


class Database:
    """The tables, and the sessions of all nodes."""

    primary_key = True
    """Whether a second entry of one number is refused, as it must be."""

    def __init__(self, scheduler: Scheduler, delay: Callable[[float], float]) -> None:
        self.scheduler = scheduler
        self.delay = delay
        self.tables: dict[str, dict[Key, Row]] = {
            name: {}
            for name in (
                "node",
                "stream",
                "entry",
                "checkpoint",
                "player",
                "token",
                "ledger",
                "hall_line",
            )
        }
        self.locks: dict[Place, dict[Transaction, Mode]] = {}
        self.sessions: list[Session] = []
        self.on_commit: Callable[[Commit], None] | None = None
        self.running = True
        self.slow = 0.0
        """Seconds that a statement may take more, at most."""
        self.block = -BLOCK + 1
        self._change = itertools.count(1)
        self._hall_change = itertools.count(1)
        self._place = itertools.count(1)

    def next_change(self) -> int:
        return next(self._change)

    def next_hall_change(self) -> int:
        return next(self._hall_change)

    def next_place(self) -> int:
        return next(self._place)

    def connect(self, node: str, *, idle_ends: bool) -> Session:
        """Return a new session; raises `OperationalError` while the database is down."""
        if not self.running:
            raise psycopg.OperationalError("Connection refused")
        session = Session(self, node, idle_ends=idle_ends)
        self.sessions.append(session)
        return session

    def kill(self) -> None:
        """End at once: what is not committed is gone."""
        self.running = False
        for session in list(self.sessions):
            session.end("the server closed the connection unexpectedly")

    def start(self) -> None:
        self.running = True

    def commit(self, transaction: Transaction, node: str) -> None:
        before: dict[Place, Row | None] = {}
        for (table, key), row in transaction.writes.items():
            rows = dict(self.tables[table])
            before[table, key] = rows.get(key)
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row
            self.tables[table] = rows
        if transaction.writes and self.on_commit is not None:
            self.on_commit(Commit(node, before, transaction.writes))
        self.release(transaction)
        for notice in transaction.notices:
            for session in self.sessions:
                if notice.channel in session.listens:
                    tell = partial(session.notify, notice)
                    self.scheduler.call_after(self.delay(0.01), tell)

    def release(self, transaction: Transaction) -> None:
        """Let go of all locks, and let those go on who have waited for them."""
        transaction.over = True
        for place, held in list(self.locks.items()):
            held.pop(transaction, None)
            if not held:
                del self.locks[place]
        for session in list(self.sessions):
            session.retry()


@dataclass(slots=True)
class Request:
    """Statements that came in one message, and who is told what they found."""

    statements: list[tuple[str, Values]]
    reply: Callable[[list[Result], Exception | None], None]
    results: list[Result] = field(default_factory=list)


class Session:
    """One connection, at the database's end."""

    def __init__(self, database: Database, node: str, *, idle_ends: bool) -> None:
        self._database = database
        self.node = node
        self.ended = ""
        """Why nothing can be asked any more."""
        self.on_ended: Callable[[str], None] | None = None
        self.on_notify: Callable[[Notice], None] | None = None
        self.listens: set[str] = set()
        self.advisory: set[tuple[Any, ...]] = set()
        self._idle_ends = idle_ends
        self._transaction: Transaction | None = None
        self._queue: list[Request] = []
        self._blocked = False
        self._busy = False
        self._closing = False
        self._idle: TimerHandle | None = None

    @property
    def status(self) -> str:
        """Where its transaction stands: idle, open or failed."""
        if self._transaction is None:
            return "idle"
        return "failed" if self._transaction.failed else "open"

    # --- requests ---------------------------------------------------------------------------

    def submit(self, request: Request) -> None:
        """Carry something out after all that came before it."""
        if self.ended:
            return
        if self._idle is not None:
            self._idle.cancel()
        self._queue.append(request)
        if len(self._queue) == 1:
            self._go_on()

    def close(self) -> None:
        """The other side has closed: what was received is carried out, the rest is undone."""
        self._closing = True
        if not self._queue:
            self.end("closed")

    def retry(self) -> None:
        if self._blocked and not self.ended:
            self._blocked = False
            self._database.scheduler.call_after(0.0, self._go_on)

    def end(self, reason: str) -> None:
        if self.ended:
            return
        self.ended = reason
        self._database.sessions.remove(self)
        self._queue.clear()
        if self._transaction is not None:
            transaction, self._transaction = self._transaction, None
            self._database.release(transaction)
        if self.on_ended is not None:
            self.on_ended(reason)

    def notify(self, notice: Notice) -> None:
        if self.on_notify is not None and not self.ended:
            self.on_notify(notice)

    def _go_on(self) -> None:
        if self.ended or self._blocked or self._busy or not self._queue:
            return
        request = self._queue[0]
        while len(request.results) < len(request.statements):
            sql, values = request.statements[len(request.results)]
            if sql == "COMMIT" and self.status == "open":
                self._commit(request)
                return
            try:
                request.results.append(self.execute(sql, values))
            except MustWait as wait:
                transaction = self._transaction
                if transaction is not None:
                    transaction.waits_for = wait.holders
                self._blocked = True
                return
            except psycopg.Error as error:
                self._answer(request, error)
                return
        self._answer(request, None)

    def _commit(self, request: Request) -> None:
        """Wait for the disk, as a commit does, with all locks held."""
        self._busy = True

        def done() -> None:
            if self.ended:
                return
            self._busy = False
            transaction, self._transaction = self._transaction, None
            assert transaction is not None
            request.results.append(Result())
            self._database.commit(transaction, self.node)
            self._go_on()

        database = self._database
        database.scheduler.call_after(database.delay(0.01 + database.slow), done)

    def _answer(self, request: Request, error: Exception | None) -> None:
        del self._queue[0]
        request.reply(request.results, error)
        if self._queue:
            self._database.scheduler.call_after(0.0, self._go_on)
        elif self._closing:
            self.end("closed")
        elif self._transaction is not None and self._idle_ends:
            self._idle = self._database.scheduler.call_after(
                IDLE_S, lambda: self.end("terminating connection due to idle transaction timeout")
            )

    # --- one statement ----------------------------------------------------------------------

    def execute(self, sql: str, values: Values) -> Result:
        """Carry out a statement at once. Raises `psycopg.Error`, `MustWait`."""
        text = " ".join(sql.split())
        if text == "BEGIN":
            self._transaction = Transaction(self._database, explicit=True)
            return Result()
        if text == "ROLLBACK":
            self._roll_back()
            return Result()
        if text == "COMMIT":
            return self._commit_now()
        transaction = self._transaction
        if transaction is None:
            transaction = self._transaction = Transaction(self._database, explicit=False)
        if transaction.failed:
            raise sqlstate.InFailedSqlTransaction("current transaction is aborted")
        saved = dict(transaction.writes)
        try:
            result = self._run(transaction, text, values)
        except MustWait:
            transaction.writes = saved
            raise
        except psycopg.Error:
            transaction.failed = True
            if not transaction.explicit:
                self._roll_back()
            raise
        transaction.waits_for = ()
        if not transaction.explicit:
            self._transaction = None
            self._database.commit(transaction, self.node)
            self.listens |= transaction.listens
        return result

    def _commit_now(self) -> Result:
        transaction, self._transaction = self._transaction, None
        if transaction is not None and transaction.failed:
            self._database.release(transaction)
        elif transaction is not None:
            self._database.commit(transaction, self.node)
        return Result()

    def _roll_back(self) -> None:
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            self._database.release(transaction)

    def _run(self, transaction: Transaction, text: str, values: Values) -> Result:
        if text.startswith("SELECT pg_try_advisory_lock_shared"):
            return found((self._try_node_lock(*values),))
        if text == "SELECT pg_advisory_unlock_all()":
            self.advisory.clear()
            return Result()
        statement = _STATEMENTS.get(text)
        if statement is None:
            raise AssertionError(f"the simulated database does not know {text!r}")
        if isinstance(values, dict):
            return statement(transaction, **values)
        return statement(transaction, *values)

    def _try_node_lock(self, server: int, nodes: int, name: str) -> bool:
        place = (nodes, name)
        if any(place in each.advisory for each in self._database.sessions if each is not self):
            return False
        self.advisory |= {place, (server,)}
        return True


# --- statements -----------------------------------------------------------------------------------

_STATEMENTS: dict[str, Callable[..., Result]] = {}


def statement(*texts: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Register what statements of these texts do."""

    def register(run: Callable[..., Result]) -> Callable[..., Result]:
        _STATEMENTS.update({" ".join(text.split()): run for text in texts})
        return run

    return register


def _open_keys(tx: Transaction) -> set[str]:
    """Return the lobbies that are open, or of which a match is."""
    return {row["owner"] or row["key"] for _, row in tx.rows("stream") if row["state"] == "open"}


def _by_key(tx: Transaction) -> dict[str, Row]:
    return {row["key"]: row for _, row in tx.rows("stream")}


@statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
def _fix_snapshot(tx: Transaction) -> Result:
    tx.fix_snapshot()
    return Result()


@statement("SELECT pg_advisory_xact_lock(%s)")
def _advisory_lock(tx: Transaction, number: int) -> Result:
    tx.lock(("advisory", number))
    return Result()


@statement(hall_lines._TELL)
def _notify(tx: Transaction, channel: str, payload: str) -> Result:
    tx.notices[Notice(channel, payload)] = None
    return Result()


@statement(f"LISTEN {notifications.HALL}")
def _listen_for_lines(tx: Transaction) -> Result:
    tx.listens.add(notifications.HALL)
    return Result()


# --- nodes ---


@statement("DELETE FROM node WHERE name = %s")
def _delete_node(tx: Transaction, name: str) -> Result:
    gone = list(tx.change("node", lambda row: row["name"] == name))
    for key in gone:
        tx.delete("node", key)
    return Result(rowcount=len(gone))


@statement("SELECT coalesce(max(number), 0) FROM stream")
def _highest_number(tx: Transaction) -> Result:
    return found((max((number for number, _ in tx.rows("stream")), default=0),))


@statement("SELECT count(*) FROM node")
def _count_nodes(tx: Transaction) -> Result:
    return found((len(tx.rows("node")),))


@statement(
    "SELECT setval('stream_block', greatest((SELECT last_value FROM stream_block),"
    " (SELECT coalesce(max(number), 0) + 1 FROM stream)))"
)
def _set_block(tx: Transaction) -> Result:
    highest = max((number for number, _ in tx.rows("stream")), default=0)
    tx.database.block = max(tx.database.block, highest + 1)
    return Result()


@statement("SELECT nextval('stream_block')")
def _next_block(tx: Transaction) -> Result:
    tx.database.block += BLOCK
    return found((tx.database.block,))


@statement(
    "INSERT INTO node (name, owner, last, url, beat, since)"
    " VALUES (%s, %s, %s, %s, clock_timestamp(), clock_timestamp())"
    " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, last = excluded.last,"
    " url = excluded.url, beat = excluded.beat, since = excluded.since, leaving = false"
)
def _enter(tx: Transaction, name: str, owner: str, last: str, url: str) -> Result:
    tx.lock(("node", name))
    now = tx.database.scheduler.now
    row = {"name": name, "owner": owner, "last": last, "url": url}
    tx.writes["node", name] = {**row, "beat": now, "since": now, "leaving": False}
    return Result(rowcount=1)


@statement("UPDATE node SET last = %s WHERE name = %s AND owner = %s AND last = %s")
def _claim(tx: Transaction, name: str, node: str, owner: str, last: str) -> Result:
    tx.lock(("node", node))
    row = tx.get("node", node)
    if row is None or (row["owner"], row["last"]) != (owner, last):
        return Result()
    tx.update("node", node, last=name)
    return Result(rowcount=1)


@statement("UPDATE node SET last = %s WHERE name = %s")
def _set_last(tx: Transaction, last: str, name: str) -> Result:
    for key in tx.change("node", lambda row: row["name"] == name):
        tx.update("node", key, last=last)
    return Result(rowcount=1)


@statement(
    """
SELECT pg_terminate_backend(held.pid)
FROM node JOIN pg_locks AS held ON held.objid = (hashtext(node.name)::bigint & 4294967295)::oid
    JOIN pg_stat_activity AS session ON session.pid = held.pid
WHERE node.name <> %s AND node.beat < clock_timestamp() - make_interval(secs => %s)
    AND held.locktype = 'advisory' AND held.classid = %s AND held.objsubid = 2
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND session.xact_start < clock_timestamp() - make_interval(secs => %s)
    AND pg_has_role(session.usesysid, 'USAGE')"""
)
def _end_transactions(tx: Transaction, *limits: object) -> Result:
    """Here every pipeline comes whole, so idle transactions are all that stand still."""
    return Result()


@statement("SELECT owner FROM node WHERE name = %s")
def _owner_of_node(tx: Transaction, name: str) -> Result:
    row = tx.get("node", name)
    return found() if row is None else found((row["owner"],))


@statement("SELECT owner, last FROM node WHERE name = %s FOR UPDATE")
def _node_for_update(tx: Transaction, name: str) -> Result:
    tx.lock(("node", name))
    row = tx.get("node", name)
    return found() if row is None else found((row["owner"], row["last"]))


@statement(
    """
UPDATE node SET beat = clock_timestamp(), since = CASE
    WHEN beat < clock_timestamp() - make_interval(secs => %s) THEN clock_timestamp() ELSE since END
WHERE name = %s AND owner = %s AND NOT leaving"""
)
def _beat(tx: Transaction, expires_s: float, name: str, owner: str) -> Result:
    tx.lock(("node", name))
    row = tx.get("node", name)
    if row is None or row["owner"] != owner or row["leaving"]:
        return Result()
    now = tx.database.scheduler.now
    tx.update("node", name, beat=now)
    if row["beat"] < now - expires_s:
        tx.update("node", name, since=now)
    return Result(rowcount=1)


@statement(
    """
SELECT NOT EXISTS (
    SELECT FROM node AS other WHERE other.name <> me.name AND other.url = me.url
        AND NOT other.leaving
        AND other.beat >= clock_timestamp() - make_interval(secs => %s)
        AND (other.since, other.name) < (me.since, me.name))
FROM node AS me WHERE me.name = %s AND NOT me.leaving"""
)
def _first(tx: Transaction, expires_s: float, name: str) -> Result:
    me = tx.get("node", name)
    if me is None or me["leaving"]:
        return found()
    since = tx.database.scheduler.now - expires_s
    before = any(
        not other["leaving"]
        and other["url"] == me["url"]
        and other["beat"] >= since
        and (other["since"], other["name"]) < (me["since"], name)
        for key, other in tx.rows("node")
        if key != name
    )
    return found((not before,))


@statement("SELECT FROM node WHERE name = %s AND owner = %s")
def _has_row(tx: Transaction, name: str, owner: str) -> Result:
    row = tx.get("node", name)
    return found(()) if row is not None and row["owner"] == owner else found()


@statement("SELECT FROM node WHERE name = %s AND owner = %s AND NOT leaving FOR SHARE")
def _may_take(tx: Transaction, name: str, owner: str) -> Result:
    tx.lock(("node", name), "share")
    row = tx.get("node", name)
    there = row is not None and row["owner"] == owner and not row["leaving"]
    return found(()) if there else found()


@statement("UPDATE node SET leaving = true WHERE name = %s AND owner = %s")
def _leave(tx: Transaction, name: str, owner: str) -> Result:
    for key in tx.change("node", lambda row: (row["name"], row["owner"]) == (name, owner)):
        tx.update("node", key, leaving=True)
    return Result()


@statement(
    """
UPDATE stream SET node = NULL WHERE node = %s
    AND key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')"""
)
def _let_go(tx: Transaction, name: str) -> Result:
    keys = _open_keys(tx)
    for key in tx.change("stream", lambda row: row["node"] == name and row["key"] in keys):
        tx.update("stream", key, node=None)
    return Result()


@statement(
    """
SELECT lobby.number, lobby.key, lobby.node, lobby.link, lobby.state = 'open'
FROM stream AS lobby LEFT JOIN node ON node.name = lobby.node
WHERE lobby.key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')
    AND lobby.kind = 'lobby' AND lobby.node IS DISTINCT FROM %(name)s
    AND (node.name IS NULL OR node.leaving
         OR node.beat < clock_timestamp() - make_interval(secs => %(expires_s)s))
    AND (node.name IS NULL OR node.url = (SELECT url FROM node WHERE name = %(name)s)
         OR NOT EXISTS (
            SELECT FROM node AS mate WHERE mate.url = node.url AND mate.name <> node.name
                AND NOT mate.leaving
                AND mate.beat >= clock_timestamp() - make_interval(secs => %(expires_s)s)))
ORDER BY lobby.number LIMIT %(most)s FOR UPDATE OF lobby SKIP LOCKED"""
)
def _orphans(tx: Transaction, name: str, expires_s: float, most: int) -> Result:
    keys = _open_keys(tx)
    rows: list[tuple[Any, ...]] = []
    for number, row in sorted(tx.rows("stream")):
        owner = None if row["node"] is None else tx.get("node", row["node"])
        free = owner is None or (
            not _alive(tx, owner, expires_s) and not _has_mate(tx, owner, name, expires_s)
        )
        wanted = row["key"] in keys and row["kind"] == "lobby" and row["node"] != name and free
        if wanted and len(rows) < most and not tx.locked(("stream", number)):
            tx.lock(("stream", number))
            rows.append((number, row["key"], row["node"], row["link"], row["state"] == "open"))
    return found(*rows)


@statement(
    """
SELECT NOT EXISTS (
    SELECT FROM stream AS lobby LEFT JOIN node ON node.name = lobby.node
    WHERE lobby.key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')
        AND lobby.kind = 'lobby' AND lobby.node IS DISTINCT FROM %(name)s
        AND (node.name IS NULL OR node.leaving
             OR node.url = (SELECT url FROM node WHERE name = %(name)s)
             OR node.beat < clock_timestamp() - make_interval(secs => %(expires_s)s)))"""
)
def _has_all(tx: Transaction, name: str, expires_s: float) -> Result:
    me = tx.get("node", name)
    owners = [_owner(tx, row) for row in _lobbies_elsewhere(tx, name)]
    return found(
        (
            all(
                owner is not None
                and _alive(tx, owner, expires_s)
                and me is not None
                and owner["url"] != me["url"]
                for owner in owners
            ),
        )
    )


def _owner(tx: Transaction, lobby: Row) -> Row | None:
    return None if lobby["node"] is None else tx.get("node", lobby["node"])


def _lobbies_elsewhere(tx: Transaction, name: str) -> list[Row]:
    """Return the lobbies that are open, or of which a match is, of other nodes than one."""
    keys = _open_keys(tx)
    return [
        row
        for _, row in tx.rows("stream")
        if row["kind"] == "lobby" and row["key"] in keys and row["node"] != name
    ]


def _alive(tx: Transaction, node: Row, expires_s: float) -> bool:
    return not node["leaving"] and node["beat"] >= tx.database.scheduler.now - expires_s


def _has_mate(tx: Transaction, node: Row, taker: str, expires_s: float) -> bool:
    """Whether another one than the taker stands by for a node."""
    me = tx.get("node", taker)
    if me is not None and me["url"] == node["url"]:
        return False
    return any(
        mate["url"] == node["url"] and mate["name"] != node["name"] and _alive(tx, mate, expires_s)
        for _, mate in tx.rows("node")
    )


# --- the lines of the hall ---


@statement(hall_lines._WRITE)
def _write_lines(tx: Transaction, name: str, keys: list[str], lines: list[bytes | None]) -> Result:
    change = tx.database.next_hall_change()
    owned = {row["key"] for _, row in tx.rows("stream") if row["node"] == name}
    for key, line in zip(keys, lines, strict=True):
        if line is not None and key not in owned and not key.startswith("node "):
            continue
        tx.lock(("hall_line", key))
        former = tx.get("hall_line", key)
        if former is not None and line is None and former["node"] != name:
            continue
        tx.writes["hall_line", key] = {"key": key, "node": name, "change": change, "line": line}
    return Result()


@statement(hall_lines._END_OTHERS)
def _end_other_lines(tx: Transaction, name: str, keys: list[str]) -> Result:
    change = tx.database.next_hall_change()
    for key in tx.change(
        "hall_line",
        lambda row: row["node"] == name and row["line"] is not None and row["key"] not in keys,
    ):
        tx.update("hall_line", key, line=None, change=change)
    return Result()


@statement(hall_lines._PURGE)
def _purge_lines(tx: Transaction, name: str, kept_s: float) -> Result:
    return Result()  # no run lasts so long


@statement(hall_lines._OTHERS)
def _other_nodes(tx: Transaction, name: str, expires_s: float) -> Result:
    return found(
        *(
            (row["name"], row["url"], row["owner"], _alive(tx, row, expires_s))
            for _, row in sorted(tx.rows("node"))
            if row["name"] != name
        )
    )


@statement(hall_lines._READ)
def _read_lines(tx: Transaction, name: str, nodes: list[str], changes: list[int]) -> Result:
    seen = dict(zip(nodes, changes, strict=True))
    rows = [row for _, row in tx.rows("hall_line") if row["node"] != name]
    return found(
        *(
            (row["key"], row["node"], row["change"], row["line"])
            for row in sorted(rows, key=lambda row: (row["change"], row["key"]))
            if row["change"] > seen.get(row["node"], 0)
        )
    )


@statement(hall_lines._MISSING)
def _missing_lines(tx: Transaction, name: str, expires_s: float) -> Result:
    rows = [row for _, row in tx.rows("stream") if row["node"] == name]
    return found(
        *(
            (row["key"],)
            for row in rows
            if (row["kind"], row["state"]) == ("lobby", "open") and not _has_line(tx, row)
        )
    )


def _has_line(tx: Transaction, lobby: Row) -> bool:
    line = tx.get("hall_line", lobby["key"])
    return line is not None and line["node"] == lobby["node"] and line["line"] is not None


@statement(hall_lines._SETTLED)
def _settled(tx: Transaction, name: str, expires_s: float) -> Result:
    settled = all(
        (owner := _owner(tx, row)) is not None
        and _alive(tx, owner, expires_s)
        and _has_line(tx, row)
        for row in _lobbies_elsewhere(tx, name)
    )
    return found((settled, int(tx.database.scheduler.now * 1000), b"the key of all nodes"))


@statement(postgres_nodes._OWNER)
def _owner_of_stream(tx: Transaction, key: str) -> Result:
    row = _by_key(tx).get(key)
    if row is None or row["state"] != "open":
        return found()
    lobby = _by_key(tx).get(row["owner"] or row["key"])
    return found() if lobby is None else found((lobby["key"], lobby["node"]))


@statement("SELECT key, node FROM stream WHERE key = ANY(%s) AND node IS DISTINCT FROM %s")
def _owned_elsewhere(tx: Transaction, keys: list[str], name: str) -> Result:
    return found(
        *(
            (row["key"], row["node"])
            for _, row in tx.rows("stream")
            if row["key"] in keys and row["node"] != name
        )
    )


@statement("UPDATE stream SET node = %s WHERE number = %s")
def _take(tx: Transaction, name: str, number: int) -> Result:
    tx.lock(("stream", number))
    tx.update("stream", number, node=name)
    return Result()


@statement(
    "SELECT number, key FROM stream WHERE node = %s AND kind = 'lobby' AND state = 'open'"
    " AND key <> ALL(%s) ORDER BY number"
)
def _unheard(tx: Transaction, name: str, known: list[str]) -> Result:
    return found(
        *(
            (number, row["key"])
            for number, row in sorted(tx.rows("stream"))
            if (row["node"], row["kind"], row["state"]) == (name, "lobby", "open")
            and row["key"] not in known
        )
    )


@statement("SELECT key, number, state FROM stream WHERE owner = %s ORDER BY number")
def _matches(tx: Transaction, lobby: str) -> Result:
    rows = (row for _, row in sorted(tx.rows("stream")) if row["owner"] == lobby)
    return found(*((row["key"], row["number"], row["state"]) for row in rows))


# --- the log ---


@statement("SELECT key, node FROM stream WHERE key = ANY(%s) ORDER BY key")
def _owners(tx: Transaction, keys: list[str]) -> Result:
    rows = ((row["key"], row["node"]) for _, row in tx.rows("stream") if row["key"] in keys)
    return found(*sorted(rows, key=lambda row: row[0]))


@statement("SELECT key, node FROM stream WHERE key = ANY(%s) ORDER BY key FOR SHARE")
def _owners_locked(tx: Transaction, keys: list[str]) -> Result:
    for number, row in sorted(tx.rows("stream"), key=lambda each: str(each[1]["key"])):
        if row["key"] in keys:
            tx.lock(("stream", number), "share")
    return _owners(tx, keys)


@statement(
    "INSERT INTO entry (stream, seq, link, line)"
    " SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::bytea[], %b::bytea[])"
)
def _insert_entries(tx: Transaction, *columns: list[Any]) -> Result:
    for values in zip(*columns, strict=True):
        _insert_entry(tx, *values)
    return Result()


@statement("INSERT INTO entry (stream, seq, link, line) VALUES (%s, %s, %s, %s)")
def _insert_entry(tx: Transaction, stream: int, seq: int, link: bytes, line: bytes) -> Result:
    row = {"stream": stream, "seq": seq, "link": link, "line": line}
    if tx.database.primary_key:
        tx.require_insert("entry", (stream, seq), row)
    else:
        tx.writes["entry", (stream, seq)] = row
    return Result()


@statement(
    "INSERT INTO stream (number, key, kind, owner, opened, head, link, node)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)
def _insert_stream(tx: Transaction, *values: Any) -> Result:
    columns = ("number", "key", "kind", "owner", "opened", "head", "link", "node")
    row = dict(zip(columns, values, strict=True))
    more = dict.fromkeys(("tail", "footer", "summary", "sound", "reason", "noticed"))
    tx.lock(("stream by key", row["key"]))
    if row["key"] in _by_key(tx):
        raise sqlstate.UniqueViolation(f"duplicate key {row['key']!r} in stream")
    tx.require_insert("stream", row["number"], {**row, **more, "state": "open"})
    return Result(rowcount=1)


@statement(
    "UPDATE stream SET state = 'closed', footer = %s, summary = %s, tail = %s WHERE number = %s"
)
def _close_stream(tx: Transaction, footer: bytes, summary: bytes, tail: int, number: int) -> Result:
    tx.lock(("stream", number))
    if tx.get("stream", number) is None:
        return Result()
    tx.update("stream", number, state="closed", footer=footer, summary=summary, tail=tail)
    return Result(rowcount=1)


@statement("DELETE FROM checkpoint WHERE stream = %s")
def _delete_checkpoint(tx: Transaction, stream: int) -> Result:
    for key in tx.change("checkpoint", lambda row: row["stream"] == stream):
        tx.delete("checkpoint", key)
    return Result()


@statement(
    "INSERT INTO checkpoint (stream, seq, link, data) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, link = excluded.link,"
    " data = excluded.data"
)
def _put_checkpoint(tx: Transaction, stream: int, seq: int, link: str, data: bytes) -> Result:
    tx.lock(("checkpoint", stream))
    row = {"stream": stream, "seq": seq, "link": link, "data": data}
    tx.writes["checkpoint", stream] = row
    return Result()


@statement("UPDATE stream SET state = 'damaged', reason = %s, noticed = %s WHERE key = %s")
def _set_aside(tx: Transaction, reason: str, noticed: int, name: str) -> Result:
    for key in tx.change("stream", lambda row: row["key"] == name):
        tx.update("stream", key, state="damaged", reason=reason, noticed=noticed)
    return Result()


@statement("UPDATE stream SET state = 'damaged', sound = %s, reason = %s WHERE key = %s")
def _mark_damaged(tx: Transaction, sound: int, reason: str, name: str) -> Result:
    for key in tx.change("stream", lambda row: row["key"] == name):
        tx.update("stream", key, state="damaged", sound=sound, reason=reason)
    return Result()


@statement("INSERT INTO ledger (match, line) VALUES (%s, %s) ON CONFLICT DO NOTHING")
def _rate(tx: Transaction, match: str, line: bytes) -> Result:
    row = {"match": match, "line": line, "place": tx.database.next_place()}
    return Result(rowcount=int(tx.insert("ledger", match, row)))


@statement("SELECT place, line FROM ledger WHERE place > %s ORDER BY place LIMIT %s")
def _ledger(tx: Transaction, after: int, count: int) -> Result:
    rows = sorted((row["place"], row["line"]) for _, row in tx.rows("ledger"))
    return found(*[row for row in rows if row[0] > after][:count])


_STREAM_COLUMNS = ("number", "key", "kind", "head", "link", "tail", "state")


@statement("SELECT number, key, kind, head, link, tail, state FROM stream WHERE key = %s")
def _stream(tx: Transaction, key: str) -> Result:
    row = _by_key(tx).get(key)
    return found() if row is None else found(tuple(row[each] for each in _STREAM_COLUMNS))


@statement("SELECT number, key, kind, head, link, tail, state FROM stream WHERE number = %s")
def _stream_by_number(tx: Transaction, number: int) -> Result:
    row = tx.get("stream", number)
    return found() if row is None else found(tuple(row[each] for each in _STREAM_COLUMNS))


@statement(
    "SELECT number, key, kind, head, stream.link, tail, state,"
    " checkpoint.seq, checkpoint.link, data"
    " FROM stream LEFT JOIN checkpoint ON checkpoint.stream = number"
    " WHERE state = 'open' AND kind = %s"
    " AND coalesce(owner, key) IN (SELECT key FROM stream WHERE node = %s) ORDER BY number"
)
def _load(tx: Transaction, kind: str, name: str) -> Result:
    mine = {row["key"] for _, row in tx.rows("stream") if row["node"] == name}
    rows: list[tuple[Any, ...]] = []
    for number, row in sorted(tx.rows("stream")):
        owner = row["owner"] or row["key"]
        if row["state"] == "open" and row["kind"] == kind and owner in mine:
            kept = tx.get("checkpoint", number) or dict.fromkeys(("seq", "link", "data"))
            columns = tuple(row[each] for each in _STREAM_COLUMNS)
            rows.append((*columns, kept["seq"], kept["link"], kept["data"]))
    return found(*rows)


def _entries_of(tx: Transaction, stream: int, first: int, last: float) -> list[Row]:
    rows = [row for _, row in tx.rows("entry") if row["stream"] == stream]
    return sorted((row for row in rows if first <= row["seq"] <= last), key=lambda row: row["seq"])


@statement("SELECT seq, link, line FROM entry WHERE stream = %s AND seq >= %s ORDER BY seq")
def _entries(tx: Transaction, stream: int, first: int) -> Result:
    rows = _entries_of(tx, stream, first, float("inf"))
    return found(*((row["seq"], row["link"], row["line"]) for row in rows))


@statement("SELECT line FROM entry WHERE stream = %s AND seq BETWEEN %s AND %s ORDER BY seq")
def _lines(tx: Transaction, stream: int, first: int, last: int) -> Result:
    return found(*((row["line"],) for row in _entries_of(tx, stream, first, last)))


@statement(followed_streams._HEADS)
def _heads(tx: Transaction, keys: list[str]) -> Result:
    streams = _by_key(tx)
    rows: list[tuple[Any, ...]] = []
    for row in streams.values():
        if row["key"] in keys and row["kind"] == "match":
            lobby = streams.get(row["owner"] or "")
            columns = tuple(row[each] for each in ("number", "key", "head", "link", "state"))
            rows.append((*columns, None if lobby is None else lobby["head"]))
    return found(*rows)


@statement(followed_streams._NEW_ENTRIES)
def _new_entries(
    tx: Transaction, numbers: list[int], tails: list[int], stream_piece: int, piece: int
) -> Result:
    rows: list[tuple[tuple[float, int], tuple[Any, ...]]] = []
    for number, tail in zip(numbers, tails, strict=True):
        row = tx.get("stream", number) or {"state": None, "tail": None}
        new = _entries_of(tx, number, tail + 1, float("inf"))[:stream_piece]
        for each in new:
            values = (number, row["state"], row["tail"], each["seq"], each["link"], each["line"])
            rows.append(((each["seq"] - tail, number), values))
        if not new and row["state"] != "open":
            rows.append(((float("inf"), number), (number, row["state"], row["tail"], *[None] * 3)))
    return found(*(values for _, values in sorted(rows, key=lambda each: each[0])[:piece]))


@statement(
    "SELECT number, kind, head, footer, summary, coalesce(tail, 0), link FROM stream"
    " WHERE key = %s AND state = 'closed'"
)
def _closed(tx: Transaction, key: str) -> Result:
    row = _by_key(tx).get(key)
    if row is None or row["state"] != "closed":
        return found()
    columns = ("number", "kind", "head", "footer", "summary")
    return found((*(row[each] for each in columns), row["tail"] or 0, row["link"]))


@statement("SELECT link, tail, head FROM stream WHERE number = %s")
def _ends(tx: Transaction, number: int) -> Result:
    row = tx.get("stream", number)
    return found() if row is None else found((row["link"], row["tail"], row["head"]))


@statement(
    "SELECT seq, link, line FROM entry WHERE stream = %s AND seq BETWEEN %s AND %s ORDER BY seq"
)
def _piece(tx: Transaction, stream: int, first: int, last: int) -> Result:
    rows = _entries_of(tx, stream, first, last)
    return found(*((row["seq"], row["link"], row["line"]) for row in rows))


@statement("SELECT seq, encode(link, 'hex') FROM entry WHERE stream = %s ORDER BY seq DESC LIMIT 1")
def _tail(tx: Transaction, stream: int) -> Result:
    rows = _entries_of(tx, stream, 1, float("inf"))
    return found(*((row["seq"], row["link"].hex()) for row in rows[-1:]))


@statement("SELECT key, summary, footer FROM stream WHERE owner = ANY(%s) AND state = 'closed'")
def _endings(tx: Transaction, lobbies: list[str]) -> Result:
    return found(
        *(
            (row["key"], row["summary"], row["footer"])
            for _, row in tx.rows("stream")
            if row["owner"] in lobbies and row["state"] == "closed"
        )
    )


@statement("SELECT summary, footer FROM stream WHERE key = %s AND state = 'closed'")
def _ending(tx: Transaction, key: str) -> Result:
    row = _by_key(tx).get(key)
    closed = row is not None and row["state"] == "closed"
    return found((row["summary"], row["footer"])) if row is not None and closed else found()


@statement(
    "SELECT stream.number, stream.key, lobby.key"
    " FROM stream JOIN stream AS lobby ON lobby.key = coalesce(stream.owner, stream.key)"
    " WHERE stream.state = 'open' AND lobby.node = %s"
)
def _owned(tx: Transaction, name: str) -> Result:
    streams = _by_key(tx)
    rows: list[tuple[Any, ...]] = []
    for row in streams.values():
        lobby = streams[row["owner"] or row["key"]]
        if row["state"] == "open" and lobby["node"] == name:
            rows.append((row["number"], row["key"], lobby["key"]))
    return found(*rows)


@statement(
    "SELECT key, owner FROM stream WHERE (kind = 'lobby' AND state = 'open') OR owner IN"
    " (SELECT key FROM stream WHERE kind = 'lobby' AND state = 'open')"
)
def _keys(tx: Transaction) -> Result:
    streams = _by_key(tx)
    lobbies = {key for key, row in streams.items() if row["kind"] == "lobby"}
    alive = {key for key in lobbies if streams[key]["state"] == "open"}
    return found(
        *(
            (key, row["owner"])
            for key, row in streams.items()
            if key in alive or row["owner"] in alive
        )
    )


@statement("SELECT key, reason FROM stream WHERE state IN ('damaged', 'lost')")
def _reasons(tx: Transaction) -> Result:
    rows = (row for _, row in tx.rows("stream") if row["state"] in {"damaged", "lost"})
    return found(*((row["key"], row["reason"]) for row in rows))


@statement(
    "SELECT key, kind, owner, coalesce(sound, 0), reason FROM stream"
    " WHERE state = 'damaged' ORDER BY number"
)
def _damaged(tx: Transaction) -> Result:
    rows = (row for _, row in sorted(tx.rows("stream")) if row["state"] == "damaged")
    return found(
        *((row["key"], row["kind"], row["owner"], row["sound"] or 0, row["reason"]) for row in rows)
    )


@statement(
    "SELECT summary FROM stream WHERE state = 'closed' AND kind = %s ORDER BY number DESC LIMIT %s"
)
def _summaries(tx: Transaction, kind: str, count: int) -> Result:
    rows = [row for _, row in sorted(tx.rows("stream"), reverse=True) if row["kind"] == kind]
    return found(*[(row["summary"],) for row in rows if row["state"] == "closed"][:count])


@statement("SELECT head FROM stream WHERE key = %s AND kind = 'lobby'")
def _lobby_head(tx: Transaction, key: str) -> Result:
    row = _by_key(tx).get(key)
    return found((row["head"],)) if row is not None and row["kind"] == "lobby" else found()


# --- players ---

_PLAYER = ("key", "name", "kind", "account", "skeleton", "created", "secret", "change")


@statement("SELECT key, name, kind, account, skeleton, created, secret, change FROM player")
def _players(tx: Transaction) -> Result:
    return found(*(tuple(row[each] for each in _PLAYER) for _, row in tx.rows("player")))


@statement(
    "SELECT key, name, kind, account, skeleton, created, secret, change FROM player"
    " WHERE change > %s"
)
def _newer_players(tx: Transaction, change: int) -> Result:
    rows = (row for _, row in tx.rows("player") if row["change"] > change)
    return found(*(tuple(row[each] for each in _PLAYER) for row in rows))


@statement(
    "SELECT hash, player, expires, revoked, change FROM token",
    "SELECT hash, player, expires, revoked, change FROM token WHERE change > %s",
)
def _tokens(tx: Transaction, change: int = 0) -> Result:
    """Nobody makes tokens in these simulations."""
    return found()


@statement("SELECT key, change FROM deleted_guest WHERE change > %s")
def _deleted_guests(tx: Transaction, change: int) -> Result:
    """Nobody is deleted in these simulations."""
    return found()


@statement("DELETE FROM player WHERE skeleton = %s AND key <> %s AND NOT account")
def _free_name(tx: Transaction, skeleton: str, other: str) -> Result:
    gone = list(
        tx.change("player", lambda row: row["skeleton"] == skeleton and row["key"] != other)
    )
    for key in gone:
        tx.delete("player", key)
    return Result()


@statement(
    "INSERT INTO player (key, name, skeleton, kind, account, secret, created, change)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, nextval('change')) ON CONFLICT DO NOTHING"
)
def _add_guest(tx: Transaction, key: str, name: str, skeleton: str, *more: Any) -> Result:
    kind, account, secret, created = more
    tx.lock(("player by skeleton", skeleton))
    row = {"key": key, "name": name, "skeleton": skeleton, "kind": kind, "account": account}
    row |= {"secret": secret, "created": created, "change": tx.database.next_change()}
    if any(other["skeleton"] == skeleton for _, other in tx.rows("player")):
        return Result()
    return Result(rowcount=int(tx.insert("player", key, row)))


@statement("UPDATE player SET created = %s WHERE key = %s AND NOT account")
def _note_seen(tx: Transaction, created: int, name: str) -> Result:
    keys = list(tx.change("player", lambda row: row["key"] == name))
    for key in keys:
        tx.update("player", key, created=created)
    return Result(rowcount=len(keys))
