"""Identities: guests by name, accounts by token, house bots by their initial secret.

    hello contains     identity                     reconnects with
    a name             a new guest                  `resume`, the secret of its first welcome
    a resume secret    the guest or house bot       the same secret
    a token            an account                   its token
    a ticket           a player redirected by       its credentials at the other node
                       another node (`tickets`)
    `viewer`           a viewer, who only watches   nothing: each connection is a new viewer
    the organizer's    the guest or account of      the same, plus the organizer's secret
    secret as token    `resume`, a new guest of
                       the name, or a viewer

On a server with an organizer, only connections with the organizer's secret may create guests, and
all others are entrants.

Secrets and tokens are 256 random bits; the database has only their SHA-256. The kind of an account
(bot or human) is fixed at creation. No two names look alike: `player.skeleton` is unique. A guest's
name becomes free when its owner is neither connected nor busy anywhere.

A server looks up tokens at every hello, so changes by `TokenAdmin` apply from the next hello on.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from kibitz_protocol.wire.messages import Hello
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.accounts.identity import (
    TOKEN_PREFIX,
    VIEWER_PREFIX,
    Identity,
    digest_of,
    identity_of,
    new_key,
    new_secret,
    new_viewer,
    row_of,
)
from kibitz_server.accounts.names import BadName, claim, skeleton
from kibitz_server.accounts.tickets import BadTicket, Tickets
from kibitz_server.storage.interface import PlayerRow, Store
from kibitz_server.storage.streams import CallWaiter

Guests: TypeAlias = Literal["loopback", "anyone", "nobody"]
SEEN_INTERVAL_S = 86_400
"""The precision, in seconds, of the stored time when a guest was last seen."""


class Denied(Exception):
    """The hello is refused."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Admission:
    """The result of a hello: an identity, and its secret for reconnecting. `fresh` means new."""

    identity: Identity
    resume: str
    fresh: bool = False
    token: bytes | None = None
    """The digest of the token it used, if any."""
    entrant: bool = False
    """Whether it may only play its seats."""
    organizer: bool = False
    """Whether it used the organizer's secret."""


class Accounts:
    """The identities of a running server."""

    def __init__(
        self,
        store: Store,
        guests: Guests,
        busy: Callable[[str], bool],
        tickets: Tickets | None = None,
        *,
        operators: Collection[str] = (),
        organizer: str | None = None,
    ) -> None:
        """`busy(player)` returns whether a guest is connected or has a seat anywhere.

        `operators` are the names of the accounts that may abort matches; `organizer` is the secret
        of the organizer who runs this server, if any.
        """
        self._operators = frozenset(map(skeleton, operators))
        self._organizer = None if organizer is None else digest_of(organizer)
        self._viewers: set[str] = set()
        """The guests that are browsers or terminals of the organizer. They reconnect with its
        rights."""
        self._tickets = tickets or Tickets(time.monotonic)
        self._store = store
        self._players = store.players
        self._guests = guests
        self.public_boards = False
        """Whether viewers are admitted from everywhere. If not, only where guests are admitted."""
        self._busy = busy
        self._by_secret: dict[bytes, Identity] = {}
        self._by_skeleton: dict[str, Identity] = {}
        """New identities that are not on disk yet."""

    def identify(
        self,
        hello: Hello,
        bearer: str | None,
        *,
        local: bool,
        invited: bool = False,
        room: int | None = None,
    ) -> Admission:
        """Return the identity and rights for a hello, or raise `Denied`.

        A `fresh` guest is not saved yet. `local` tells whether the client is on this machine,
        `invited` whether its network admits guests, and `room` how many more that network admits
        (None for any number).
        """
        token = hello.token or bearer
        if self._is_organizer(token):
            return replace(self._come_with_organizer(hello), organizer=True)
        admission = self._identify(hello, token, local, invited, room)
        if self._organizer is None:
            return admission
        viewer = admission.identity.key in self._viewers
        return replace(admission, entrant=not viewer, organizer=viewer)

    def _is_organizer(self, token: str | None) -> bool:
        return (
            self._organizer is not None
            and token is not None
            and hmac.compare_digest(digest_of(token), self._organizer)
        )

    def _come_with_organizer(self, hello: Hello) -> Admission:
        """Return the player for the organizer's hello; without a name, a new viewer."""
        if hello.resume is not None:
            return Admission(self._resumed(hello.resume), hello.resume)
        if hello.name is not None:
            return self._guest(hello)
        name = f"viewer-{secrets.token_hex(4)}"
        viewer = self._guest(hello.model_copy(update={"name": name}))
        self._viewers.add(viewer.identity.key)
        return viewer

    def _identify(
        self, hello: Hello, token: str | None, local: bool, invited: bool, room: int | None
    ) -> Admission:
        if token is None and hello.resume is not None and hello.resume.startswith(TOKEN_PREFIX):
            token = hello.resume
        if token is not None:
            return Admission(self._by_token(token), token, token=digest_of(token))
        if hello.resume is not None:
            return Admission(self._resumed(hello.resume), hello.resume)
        if hello.ticket is not None:
            return Admission(self._sent_here(hello.ticket), "")
        if self._organizer is not None:
            raise Denied(
                Code.UNAUTHORIZED,
                "this server belongs to an event, and only admits its entrants and its organizer",
            )
        if hello.viewer and hello.name is None:
            if not (invited or self.public_boards):
                self._require_guests(local)
            return Admission(new_viewer(), "")
        if not invited:
            self._require_guests(local)
        elif room is not None and room <= 0:
            raise Denied(Code.LIMIT, "your network has reached its limit of guests")
        return self._guest(hello)

    def save(self, admission: Admission) -> None:
        """Write a fresh guest within a quarter of a second, and before any entry that names it.

        The server sends the welcome before the guest is on disk, because a guest who has only said
        hello loses nothing in a crash. So the guests of a crowd share a few commits.
        """
        identity, secret = admission.identity, digest_of(admission.resume)
        self._remember(identity, secret)
        self._write(identity, secret)

    def _write(self, guest: Identity, secret: bytes) -> None:
        """Write a guest; write it again if its batch is lost.

        Entries that name the guest are in the same batch or a later one, so they are lost too.
        """

        def settled(saved: bool) -> None:
            if saved:
                self._forget(guest, secret)
            elif self._store.failure is None and secret in self._by_secret:
                self._write(guest, secret)

        self._players.add_guest(row_of(guest), secret, CallWaiter(settled))

    def house_bot(
        self, name: str, former: Player | None, then: Callable[[bool], None]
    ) -> Admission:
        """Create the identity of a house bot, or give the existing one `former` a new secret."""
        resume = new_secret()
        secret = digest_of(resume)
        if former is None:
            player = Player(player=new_key("h"), name=name, kind="house")
        else:
            player = former
        identity = Identity(player, account=False, skeleton=None)
        self._remember(identity, secret)

        def settled(saved: bool) -> None:
            self._forget(identity, secret)
            then(saved)

        self._players.put_house_bot(row_of(identity), secret, CallWaiter(settled))
        return Admission(identity, resume, fresh=former is None)

    def is_account(self, player: str) -> bool:
        """Return whether a player has a permanent account."""
        row = self._players.by_key(player)
        return row is not None and row.account

    def is_operator(self, identity: Identity) -> bool:
        """Return whether a player has an account named by the server's operator."""
        return identity.account and identity.skeleton in self._operators

    def void_tokens(self, present: Collection[bytes]) -> set[bytes]:
        """Return the digests of tokens that were revoked or have expired."""
        return self._players.void_tokens(present, int(time.time()))

    # --- ways to sign in --------------------------------------------------------------------

    def _by_token(self, token: str) -> Identity:
        digest = digest_of(token)
        stored = self._players.token(digest)
        if stored is None or not hmac.compare_digest(stored.digest, digest):
            raise Denied(Code.UNAUTHORIZED, "unknown token")
        if stored.revoked is not None:
            raise Denied(Code.UNAUTHORIZED, "the token was revoked")
        if stored.expires is not None and stored.expires <= time.time():
            raise Denied(Code.UNAUTHORIZED, "the token has expired")
        player = self._players.by_key(stored.player)
        if player is None:
            raise Denied(Code.UNAUTHORIZED, "the account of this token no longer exists")
        return identity_of(player)

    def _resumed(self, resume: str) -> Identity:
        digest = digest_of(resume)
        known = self._by_secret.get(digest)
        if known is not None:
            return known
        row = self._players.by_secret(digest)
        if row is None:
            raise Denied(Code.UNAUTHORIZED, "unknown resume secret")
        identity = identity_of(row)
        if identity.skeleton is not None and identity.skeleton in self._by_skeleton:
            raise Denied(Code.UNAUTHORIZED, "the name of this guest is now taken by somebody else")
        self._note_seen(row)
        return identity

    def _sent_here(self, ticket: str) -> Identity:
        try:
            key = self._tickets.player(ticket)
        except BadTicket as error:
            raise Denied(Code.UNAUTHORIZED, str(error)) from None
        if key.startswith(VIEWER_PREFIX):
            self._tickets.use_up(ticket)
            return new_viewer()
        row = self._players.by_key(key)
        if row is None:  # the row from the other node may not be here yet, or was deleted
            raise Denied(Code.UNAVAILABLE, "this node does not know you yet")
        self._tickets.use_up(ticket)
        return identity_of(row)

    def _note_seen(self, row: PlayerRow) -> None:
        """Record that a guest was seen, so that `retention` keeps its row."""
        now = int(time.time())
        if not row.account and row.created < now - SEEN_INTERVAL_S:
            self._players.note_seen(row.key, now)

    def _require_guests(self, local: bool) -> None:
        if self._guests == "nobody" or (self._guests == "loopback" and not local):
            raise Denied(Code.UNAUTHORIZED, "this server requires a token")

    def _guest(self, hello: Hello) -> Admission:
        if hello.name is None:
            raise Denied(Code.NAME_INVALID, "a guest must have a name")
        try:
            name = claim(hello.name)
        except BadName as error:
            raise Denied(Code.NAME_INVALID, str(error)) from None
        looks = skeleton(name)
        self._require_free(name, looks)
        player = construct(Player, {"player": new_key("g"), "name": name, "kind": hello.kind})
        return Admission(Identity(player, account=False, skeleton=looks), new_secret(), fresh=True)

    def _require_free(self, name: str, looks: str) -> None:
        """Refuse a name that is in use; if only an absent guest has it, drop that guest."""
        owner = self._by_skeleton.get(looks)
        if owner is None:
            row = self._players.by_skeleton(looks)
            owner = None if row is None else identity_of(row)
        if owner is None:
            return
        if owner.account or self._busy(owner.key):
            raise Denied(Code.NAME_TAKEN, f"the name {name!r} is taken by {owner.player.name!r}")
        for secret in [secret for secret, who in self._by_secret.items() if who == owner]:
            self._forget(owner, secret)

    def _remember(self, identity: Identity, secret: bytes) -> None:
        self._by_secret[secret] = identity
        if identity.skeleton is not None:
            self._by_skeleton[identity.skeleton] = identity

    def _forget(self, identity: Identity, secret: bytes) -> None:
        self._by_secret.pop(secret, None)
        if identity.skeleton is not None and self._by_skeleton.get(identity.skeleton) is identity:
            del self._by_skeleton[identity.skeleton]
