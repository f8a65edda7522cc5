"""Who somebody is: guests by name, accounts by token, house bots by the secret they start with.

    hello carries      is                          comes back with
    a name             a new guest                 `resume`, the secret of its first welcome
    a resume secret    the guest or house bot      the same
    a token            an account                  its token

Secrets and tokens are 256 random bits; the database has their SHA-256 only. The kind of an
account (bot or human) is fixed when it is made. No two names look alike: `player.skeleton` is
unique. A guest's name is free again when its owner is neither connected nor busy anywhere.

A server looks tokens up at every hello, so one that `Register` makes beside the running server
counts from the next hello on; one that it revokes counts no more, and `bouncer` ends the
connections that came with it.
"""

from __future__ import annotations

import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self, TypeAlias

from kibitz_protocol.messages import Hello
from kibitz_protocol.records import Player
from kibitz_protocol.refusals import Code
from kibitz_server.database import StoreError, Value, connect_beside
from kibitz_server.names import BadName, claim, house_name, normalise, skeleton
from kibitz_server.store import Store

Guests: TypeAlias = Literal["loopback", "anyone", "nobody"]
TOKEN_PREFIX = "kb_"
TOKENS_A_QUERY = 500
SEEN_EVERY_S = 86_400
"""How exactly the database knows when a guest was here last: to a day."""
_INSERT = (
    "INSERT INTO player (key, name, skeleton, kind, account, secret, created)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
"""A name that was taken beside the running server in the same moment does not fail a batch."""
_PLAYER = "SELECT key, name, kind, account, skeleton FROM player"


class Denied(Exception):
    """A hello that is refused."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom the server knows."""

    player: Player
    account: bool
    skeleton: str | None

    @property
    def key(self) -> str:
        return self.player.player


@dataclass(frozen=True, slots=True)
class Admission:
    """An identity that said hello, and what it comes back with; `fresh` when just made."""

    identity: Identity
    resume: str
    fresh: bool = False
    token: bytes | None = None
    """The digest of the token that let it in."""


class _Saved:
    """Waits until a new identity is on the disk."""

    __slots__ = ("_then",)

    def __init__(self, then: Callable[[bool], None]) -> None:
        self._then = then

    def durable(self, seq: int) -> None:
        self._then(True)

    def lost(self, error: StoreError) -> None:
        self._then(False)


class Accounts:
    """The identities of a running server."""

    def __init__(self, store: Store, guests: Guests, busy: Callable[[str], bool]) -> None:
        """`busy(player)` tells whether a guest is connected, or has a seat anywhere."""
        self._store = store
        self._guests = guests
        self._busy = busy
        self._by_secret: dict[bytes, Identity] = {}
        self._by_look: dict[str, Identity] = {}
        """New identities until they are on the disk, where the same is found later."""

    def identify(self, hello: Hello, bearer: str | None, *, local: bool) -> Admission:
        """Return who says hello, or raise `Denied`. A `fresh` guest is not saved yet."""
        token = hello.token or bearer
        if token is None and hello.resume is not None and hello.resume.startswith(TOKEN_PREFIX):
            token = hello.resume
        if token is not None:
            return Admission(self._by_token(token), token, token=_digest(token))
        if hello.resume is not None:
            return Admission(self._resumed(hello.resume), hello.resume)
        return self._guest(hello, local)

    def save(self, admission: Admission, then: Callable[[bool], None]) -> None:
        """Write a fresh guest down; `then(whether)` is called when the disk has it, or not."""
        identity = admission.identity
        secret = _digest(admission.resume)
        self._remember(identity, secret)

        def settled(saved: bool) -> None:
            self._forget(identity, secret)
            then(saved)

        self._store.execute(_INSERT, _row(identity, secret), _Saved(settled))

    def house(
        self, personality: str, number: int, former: Player | None, then: Callable[[bool], None]
    ) -> Admission:
        """Make the identity of a house bot, or give `former` a new secret to come back with."""
        resume = _secret()
        secret = _digest(resume)
        if former is None:
            player = Player(player=_key("h"), name=house_name(personality, number), kind="house")
        else:
            player = former
        identity = Identity(player, account=False, skeleton=None)
        self._remember(identity, secret)

        def settled(saved: bool) -> None:
            self._forget(identity, secret)
            then(saved)

        self._store.execute(
            "INSERT INTO player (key, name, skeleton, kind, account, secret, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET secret = excluded.secret",
            _row(identity, secret),
            _Saved(settled),
        )
        return Admission(identity, resume, fresh=former is None)

    def is_account(self, player: str) -> bool:
        """Whether a player is an account, whom a token names for good."""
        row = self._store.row(f"{_PLAYER} WHERE key = ?", (player,))
        return row is not None and _identity(row).account

    def void_tokens(self, present: Collection[bytes]) -> set[bytes]:
        """Return which of these digests are of tokens that were revoked or have expired.

        Each is an indexed look-up, so what it costs depends on who is here and not on how many
        tokens there ever were.
        """
        asked = list(present)
        void: set[bytes] = set()
        for start in range(0, len(asked), TOKENS_A_QUERY):
            part = asked[start : start + TOKENS_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._store.rows(
                f"SELECT hash FROM token WHERE hash IN ({marks})"
                " AND (revoked IS NOT NULL OR expires <= ?)",
                (*part, int(time.time())),
            )
            void |= {_bytes(row[0]) for row in rows}
        return void

    # --- the three ways in ------------------------------------------------------------------

    def _by_token(self, token: str) -> Identity:
        digest = _digest(token)
        row = self._store.row(
            "SELECT player, expires, revoked, hash FROM token WHERE hash = ?", (digest,)
        )
        if row is None or not hmac.compare_digest(_bytes(row[3]), digest):
            raise Denied(Code.UNAUTHORIZED, "unknown token")
        _, expires, revoked, _ = row
        if revoked is not None:
            raise Denied(Code.UNAUTHORIZED, "the token was revoked")
        if isinstance(expires, int) and expires <= time.time():
            raise Denied(Code.UNAUTHORIZED, "the token has expired")
        found = self._store.row(f"{_PLAYER} WHERE key = ?", (row[0],))
        if found is None:
            raise Denied(Code.UNAUTHORIZED, "the account of this token is gone")
        return _identity(found)

    def _resumed(self, resume: str) -> Identity:
        digest = _digest(resume)
        known = self._by_secret.get(digest)
        if known is not None:
            return known
        row = self._store.row(
            "SELECT key, name, kind, account, skeleton, created FROM player WHERE secret = ?",
            (digest,),
        )
        if row is None:
            raise Denied(Code.UNAUTHORIZED, "unknown resume secret")
        *found, created = row
        identity = _identity(tuple(found))
        self._seen(identity, created)
        return identity

    def _seen(self, identity: Identity, created: Value) -> None:
        """Note that a guest is here: from `created` on its row is kept a while (`retention`)."""
        now = int(time.time())
        if not identity.account and isinstance(created, int) and created < now - SEEN_EVERY_S:
            sql = "UPDATE player SET created = ? WHERE key = ? AND account = 0"
            self._store.execute(sql, (now, identity.key))

    def _guest(self, hello: Hello, local: bool) -> Admission:
        if self._guests == "nobody" or (self._guests == "loopback" and not local):
            raise Denied(Code.UNAUTHORIZED, "this server wants a token")
        if hello.name is None:
            raise Denied(Code.NAME_INVALID, "a guest needs a name")
        try:
            name = claim(hello.name)
        except BadName as error:
            raise Denied(Code.NAME_INVALID, str(error)) from None
        looks = skeleton(name)
        self._require_free(name, looks)
        player = Player(player=_key("g"), name=name, kind=hello.kind)
        return Admission(Identity(player, account=False, skeleton=looks), _secret(), fresh=True)

    def _require_free(self, name: str, looks: str) -> None:
        """Take the name from a guest who has gone; refuse it while somebody has it."""
        owner = self._by_look.get(looks)
        if owner is None:
            row = self._store.row(f"{_PLAYER} WHERE skeleton = ?", (looks,))
            owner = None if row is None else _identity(row)
        if owner is None:
            return
        if owner.account or self._busy(owner.key):
            raise Denied(Code.NAME_TAKEN, f"the name {name!r} is taken by {owner.player.name!r}")
        self._store.execute("DELETE FROM player WHERE key = ? AND account = 0", (owner.key,))

    def _remember(self, identity: Identity, secret: bytes) -> None:
        self._by_secret[secret] = identity
        if identity.skeleton is not None:
            self._by_look[identity.skeleton] = identity

    def _forget(self, identity: Identity, secret: bytes) -> None:
        self._by_secret.pop(secret, None)
        if identity.skeleton is not None and self._by_look.get(identity.skeleton) is identity:
            del self._by_look[identity.skeleton]


# --- the operator's side ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was just made: the only moment in which its text is known."""

    id: int
    token: str
    player: Player


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token in a list; times are seconds of the epoch."""

    id: int
    player: Player
    created: int
    expires: int | None
    revoked: int | None


class Register:
    """Makes and revokes tokens, beside a running server or without one. Raises `StoreError`."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = connect_beside(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def issue(
        self, name: str, kind: Literal["bot", "human"], *, days: float | None = None
    ) -> Issued:
        """Make a token for the account `name`, and the account where there is none.

        Raises `BadName`, or `StoreError` where the name belongs to somebody of another kind.
        """
        name = normalise(name)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            player = self._account(name, kind)
            token = TOKEN_PREFIX + _secret()
            now = int(time.time())
            expires = None if days is None else int(now + days * 86_400)
            cursor = self._db.execute(
                "INSERT INTO token (hash, player, created, expires) VALUES (?, ?, ?, ?)",
                (_digest(token), player.player, now, expires),
            )
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return Issued(cursor.lastrowid or 0, token, player)

    def tokens(self) -> list[TokenLine]:
        """Return all tokens, oldest first."""
        rows = self._db.execute(
            "SELECT token.id, key, name, kind, token.created, expires, revoked"
            " FROM token JOIN player ON player.key = token.player ORDER BY token.id"
        )
        return [
            TokenLine(id, Player(player=key, name=name, kind=kind), created, expires, revoked)
            for id, key, name, kind, created, expires, revoked in rows
        ]

    def revoke(self, id: int) -> bool:
        """Revoke a token; returns whether there was one to revoke."""
        cursor = self._db.execute(
            "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL", (int(time.time()), id)
        )
        return cursor.rowcount > 0

    def _account(self, name: str, kind: Literal["bot", "human"]) -> Player:
        looks = skeleton(name)
        row = self._db.execute(f"{_PLAYER} WHERE skeleton = ?", (looks,)).fetchone()
        if row is not None and row[3]:
            owner = _identity(row).player
            if owner.kind != kind:
                raise StoreError(f"the account {owner.name!r} is a {owner.kind}, not a {kind}")
            return owner
        claim(name)  # an account that has its name already keeps it
        if row is not None:  # a guest had the name; from now on it is the account's
            self._db.execute("UPDATE player SET skeleton = NULL WHERE key = ?", (row[0],))
        player = Player(player=_key("a"), name=name, kind=kind)
        self._db.execute(_INSERT, _row(Identity(player, True, looks), None))
        return player


def _identity(row: tuple[Value, ...] | sqlite3.Row) -> Identity:
    key, name, kind, account, looks = row
    player = Player.model_validate({"player": key, "name": name, "kind": kind})
    return Identity(player, bool(account), None if looks is None else str(looks))


def _row(identity: Identity, secret: bytes | None) -> tuple[Value, ...]:
    player = identity.player
    return (
        player.player,
        player.name,
        identity.skeleton,
        player.kind,
        int(identity.account),
        secret,
        int(time.time()),
    )


def _key(prefix: str) -> str:
    return prefix + secrets.token_hex(8)


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _bytes(value: Value) -> bytes:
    return value if isinstance(value, bytes) else b""
