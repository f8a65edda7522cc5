"""The identities of players: guests, accounts with tokens, house bots."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from kibitz_protocol.wire.messages import Hello
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity, row_of
from kibitz_server.accounts.names import BadName, skeleton
from kibitz_server.accounts.sign_in import Accounts, Admission, Denied, Guests
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.group_commit import Statement
from kibitz_server.storage.opening import open_register
from kibitz_server.storage.sqlite.store import SQLiteStore


class AccountsScenario:
    def __init__(
        self, path: Path, guests: Guests = "loopback", *, public_boards: bool = False
    ) -> None:
        self.store = SQLiteStore(path, asyncio.get_running_loop())
        self.busy: set[str] = set()
        self.tickets = Tickets(time.monotonic)
        self.accounts = Accounts(self.store, guests, self.busy.__contains__, self.tickets)
        self.accounts.public_boards = public_boards

    def hello(self, name: str | None = None, *, local: bool = True, **fields: object) -> Admission:
        hello = Hello.model_validate({"id": 1, "versions": [1], "name": name, **fields})
        return self.accounts.identify(hello, None, local=local)

    async def guest(self, name: str) -> Admission:
        admission = self.hello(name)
        self.accounts.save(admission)
        await self.store.flush()
        assert self.accounts._by_secret == {}
        return admission


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kibitz.db"


@pytest.fixture
async def desk(path: Path) -> AsyncIterator[AccountsScenario]:
    desk = AccountsScenario(path)
    yield desk
    await desk.store.close()


def denied(call: Callable[[], object]) -> tuple[Code, str]:
    with pytest.raises(Denied) as caught:
        call()
    return caught.value.code, str(caught.value)


async def test_a_guest_comes_back_with_its_secret_after_a_restart(path: Path) -> None:
    desk = AccountsScenario(path)
    guest = await desk.guest("Ada")
    await desk.store.close()
    desk = AccountsScenario(path)
    back = desk.hello("Other", resume=guest.resume)
    assert (back.identity, back.fresh) == (guest.identity, False)
    await desk.store.close()


async def test_a_guest_comes_back_before_it_was_saved(desk: AccountsScenario) -> None:
    guest = desk.hello("Ada")
    desk.accounts.save(guest)
    assert desk.hello(resume=guest.resume).identity is guest.identity


async def test_the_name_of_a_guest_who_has_gone_is_free_before_it_was_saved(
    desk: AccountsScenario,
) -> None:
    former, now = desk.hello("Ada"), None
    desk.accounts.save(former)
    now = desk.hello("ada")
    desk.accounts.save(now)
    for _ in range(2):
        assert denied(lambda: desk.hello(resume=former.resume))[0] is Code.UNAUTHORIZED
        assert desk.hello(resume=now.resume).identity.key == now.identity.key
        await desk.store.flush()


async def test_a_crowd_of_guests_shares_a_commit(path: Path) -> None:
    commits: list[int] = []
    store = SQLiteStore(
        path, asyncio.get_running_loop(), observe=lambda entries, s: commits.append(0)
    )
    accounts = Accounts(store, "anyone", lambda player: False)
    for number in range(100):
        hello = Hello(id=1, versions=[1], name=f"guest {number}")
        accounts.save(accounts.identify(hello, None, local=True))
        await asyncio.sleep(0)
    await store.flush()
    assert len(commits) == 1
    await store.close()
    assert sqlite3.connect(path).execute("SELECT count(*) FROM player").fetchone() == (100,)


async def test_secrets_are_not_in_the_database(desk: AccountsScenario, path: Path) -> None:
    guest = await desk.guest("Ada")
    with TokenAdmin(path) as register:
        issued = register.issue("Bot", "bot")
    await desk.store.flush()
    dump = "\n".join(sqlite3.connect(path).iterdump())
    assert guest.resume not in dump
    assert issued.token not in dump
    assert "Ada" in dump


async def test_an_unknown_secret_is_denied(desk: AccountsScenario) -> None:
    assert denied(lambda: desk.hello(resume="x" * 43))[0] is Code.UNAUTHORIZED


async def test_a_name_is_taken_while_its_owner_is_busy(desk: AccountsScenario) -> None:
    guest = await desk.guest("Ada")
    desk.busy.add(guest.identity.key)
    for name in (
        "Ada",
        "ada",
        "\N{CYRILLIC CAPITAL LETTER A}\N{CYRILLIC SMALL LETTER KOMI DE}\N{CYRILLIC SMALL LETTER A}",
    ):
        assert denied(lambda name=name: desk.hello(name))[0] is Code.NAME_TAKEN  # type: ignore[misc]


async def test_a_name_is_taken_before_it_was_saved(desk: AccountsScenario) -> None:
    guest = desk.hello("Ada")
    desk.accounts.save(guest)
    desk.busy.add(guest.identity.key)
    assert denied(lambda: desk.hello("Ada"))[0] is Code.NAME_TAKEN


async def test_the_name_of_a_guest_who_has_gone_is_free(desk: AccountsScenario) -> None:
    former = await desk.guest("Ada")
    now = await desk.guest("ada")
    assert now.identity.key != former.identity.key
    assert denied(lambda: desk.hello(resume=former.resume))[0] is Code.UNAUTHORIZED
    assert desk.hello(resume=now.resume).identity.player.name == "ada"


@pytest.mark.parametrize("name", [None, "house ada", "a\u202eb", "\x00", "..."])
async def test_bad_names_are_denied(desk: AccountsScenario, name: str | None) -> None:
    assert denied(lambda: desk.hello(name))[0] is Code.NAME_INVALID


@pytest.mark.parametrize(
    ("guests", "local", "allowed"),
    [
        ("loopback", True, True),
        ("loopback", False, False),
        ("anyone", False, True),
        ("nobody", True, False),
    ],
)
async def test_who_may_be_a_guest(path: Path, guests: Guests, local: bool, allowed: bool) -> None:
    desk = AccountsScenario(path, guests)
    if allowed:
        assert desk.hello("Ada", local=local).fresh
    else:
        assert denied(lambda: desk.hello("Ada", local=local))[0] is Code.UNAUTHORIZED
    await desk.store.close()


@pytest.mark.parametrize(
    ("guests", "local", "public_boards", "allowed"),
    [
        ("loopback", True, False, True),
        ("loopback", False, False, False),
        ("anyone", False, False, True),
        ("nobody", True, False, False),
        ("nobody", False, True, True),
    ],
)
async def test_who_may_be_a_viewer(
    path: Path, guests: Guests, local: bool, public_boards: bool, allowed: bool
) -> None:
    desk = AccountsScenario(path, guests, public_boards=public_boards)
    if allowed:
        admission = desk.hello(viewer=True, local=local)
        assert admission.identity.viewer
        assert (admission.fresh, admission.resume) == (False, "")
    else:
        assert denied(lambda: desk.hello(viewer=True, local=local))[0] is Code.UNAUTHORIZED
    await desk.store.close()


async def test_a_name_makes_a_guest_also_of_a_client_that_would_only_watch(
    desk: AccountsScenario,
) -> None:
    assert not desk.hello("Ada", viewer=True).identity.viewer


async def test_a_viewer_follows_a_ticket_to_another_node(desk: AccountsScenario) -> None:
    viewer = desk.hello(viewer=True)
    desk.tickets.synchronize(bytes(32), "life", 0)
    ticket = desk.tickets.issue(viewer.identity.key, "life", "lobby")
    assert ticket is not None
    assert desk.hello(ticket=ticket).identity.viewer
    assert denied(lambda: desk.hello(ticket=ticket))[0] is Code.UNAUTHORIZED


async def test_a_token_made_beside_the_running_server_counts_at_once(
    desk: AccountsScenario, path: Path
) -> None:
    with TokenAdmin(path) as register:
        issued = register.issue("Deep", "bot")
    admission = desk.hello(token=issued.token, local=False)
    assert admission.identity.player == issued.player
    assert admission.identity.account
    assert admission.resume == issued.token
    assert desk.hello(resume=issued.token).identity == admission.identity
    assert denied(lambda: desk.hello("deep"))[0] is Code.NAME_TAKEN


async def test_the_kind_of_an_account_is_fixed(desk: AccountsScenario, path: Path) -> None:
    with TokenAdmin(path) as register:
        issued = register.issue("Deep", "bot")
        again = register.issue("deep", "bot")
        with pytest.raises(StoreError, match="'Deep' is a bot, not a human"):
            register.issue("Deep", "human")
    assert again.player == issued.player
    assert desk.hello(token=again.token, kind="human").identity.player.kind == "bot"


async def test_revoked_expired_and_unknown_tokens_are_denied(
    desk: AccountsScenario, path: Path
) -> None:
    with TokenAdmin(path) as register:
        revoked, expired = register.issue("A1", "bot"), register.issue("B1", "bot", days=-1)
        assert register.revoke(revoked.id)
        assert not register.revoke(revoked.id)
        assert not register.revoke(12345)
        lines = register.tokens()
    assert [(line.player.name, line.revoked is not None) for line in lines] == [
        ("A1", True),
        ("B1", False),
    ]
    assert lines[1].expires is not None
    assert lines[1].expires < time.time()
    for token, why in (
        (revoked.token, "revoked"),
        (expired.token, "expired"),
        ("kb_" + "x" * 43, "unknown"),
    ):
        code, message = denied(lambda token=token: desk.hello(token=token))  # type: ignore[misc]
        assert code is Code.UNAUTHORIZED
        assert why in message


async def test_tokens_that_are_void_are_known_by_their_digests(
    desk: AccountsScenario, path: Path
) -> None:
    with TokenAdmin(path) as register:
        good, revoked = register.issue("A1", "bot"), register.issue("A1", "bot")
        expired = register.issue("B1", "bot", days=-1)
        register.issue("C1", "bot", days=1)
        here = [desk.hello(token=issued.token).token for issued in (good, revoked)]
        present = [*filter(None, here), sha256(expired.token.encode()).digest(), b"unknown"]
        assert desk.accounts.void_tokens(present) == {present[2]}
        register.revoke(revoked.id)
    assert desk.accounts.void_tokens(present) == {present[1], present[2]}
    many = [bytes([number // 256, number % 256]) for number in range(1200)]
    assert desk.accounts.void_tokens([*many, present[1]]) == {present[1]}
    assert desk.accounts.void_tokens([]) == set()


async def test_how_many_tokens_there_were_costs_nothing(desk: AccountsScenario, path: Path) -> None:
    seen: list[str] = []
    desk.store._readers._db.set_trace_callback(seen.append)
    desk.accounts.void_tokens([b"one", b"two"])
    [sql] = seen
    plan = desk.store._readers._db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert [row[3].partition(" USING INDEX ")[0] for row in plan] == ["SEARCH token"]


async def test_who_came_without_a_token_has_none_that_could_be_revoked(
    desk: AccountsScenario,
) -> None:
    assert (await desk.guest("Ada")).token is None


async def test_the_header_counts_where_hello_has_no_token(
    desk: AccountsScenario, path: Path
) -> None:
    with TokenAdmin(path) as register:
        issued = register.issue("Deep", "bot")
    hello = Hello(id=1, versions=[1])
    found = desk.accounts.identify(hello, issued.token, local=False)
    assert found.identity.player == issued.player


async def test_an_account_takes_the_name_of_a_guest(desk: AccountsScenario, path: Path) -> None:
    guest = await desk.guest("Ada")
    with TokenAdmin(path) as register:
        issued = register.issue("ada", "human")
    assert desk.hello(resume=guest.resume).identity.key == guest.identity.key
    assert desk.hello(token=issued.token).identity.key == issued.player.player


async def test_a_name_taken_in_the_same_moment_fails_no_batch(
    desk: AccountsScenario, path: Path
) -> None:
    guest = desk.hello("Ada")
    with TokenAdmin(path) as register:
        issued = register.issue("ada", "bot")
    desk.accounts.save(guest)
    await desk.store.flush()
    assert desk.store.healthy
    assert desk.hello(token=issued.token).identity.key == issued.player.player


async def test_a_guest_whose_name_an_account_took_is_written_again_without_harm(
    desk: AccountsScenario, path: Path
) -> None:
    """As after a commit whose answer was lost: the guest is already on disk."""
    guest = await desk.guest("Ada")
    with TokenAdmin(path) as register:
        issued = register.issue("ada", "bot")
    desk.accounts.save(guest)
    await desk.store.flush()
    assert desk.store.healthy
    assert desk.hello(token=issued.token).identity.key == issued.player.player
    assert desk.hello(resume=guest.resume).identity.key == guest.identity.key


async def test_a_row_that_cannot_be_fails_nobody_else_s_batch(desk: AccountsScenario) -> None:
    guest = await desk.guest("Ada")
    twice = Identity(guest.identity.player, account=False, skeleton=skeleton("Bob"))
    desk.accounts.save(Admission(twice, "another secret"))
    await desk.store.flush()
    assert desk.store.healthy
    assert desk.hello(resume=guest.resume).identity.key == guest.identity.key


async def test_a_name_that_was_free_stays_with_its_new_owner_though_a_batch_is_lost(
    path: Path,
) -> None:
    desk = AccountsScenario(path)
    former = await desk.guest("Ada")
    desk.store.commits._retries = ()
    now = desk.hello("ada")
    desk.store.commits.execute(Statement("INSERT INTO nowhere VALUES (1)", ()))
    desk.accounts.save(now)
    for _ in range(2):  # the lost batch, and the batch that contains the guest again
        await desk.store.flush()
    assert desk.store.healthy
    await desk.store.close()
    desk = AccountsScenario(path)
    assert desk.hello(resume=now.resume).identity.key == now.identity.key
    assert denied(lambda: desk.hello(resume=former.resume))[0] is Code.UNAUTHORIZED
    await desk.store.close()


async def test_a_guest_does_not_come_back_while_its_name_goes_to_another(
    desk: AccountsScenario,
) -> None:
    former = await desk.guest("Ada")
    desk.accounts.save(desk.hello("ada"))
    assert denied(lambda: desk.hello(resume=former.resume))[0] is Code.UNAUTHORIZED


async def test_a_name_is_freed_with_the_row_of_its_new_owner(desk: AccountsScenario) -> None:
    former = await desk.guest("Ada")
    desk.hello("ada")  # not saved because hello was refused
    await desk.store.flush()
    assert desk.hello(resume=former.resume).identity.key == former.identity.key


def test_names_of_accounts_are_checked(path: Path) -> None:
    with TokenAdmin(path) as register, pytest.raises(BadName):
        register.issue("house bot", "bot")


async def test_a_house_bot_comes_with_its_secret_and_gets_a_new_one(desk: AccountsScenario) -> None:
    first = desk.accounts.house_bot("Computer, level 3", None, lambda saved: None)
    await desk.store.flush()
    player = first.identity.player
    assert (player.name, player.kind) == ("Computer, level 3", "house")
    assert desk.hello(resume=first.resume).identity == first.identity
    second = desk.accounts.house_bot("another name", player, lambda saved: None)
    await desk.store.flush()
    assert desk.hello(resume=second.resume).identity == first.identity
    assert denied(lambda: desk.hello(resume=first.resume))[0] is Code.UNAUTHORIZED


async def test_an_account_whose_name_would_be_refused_now_keeps_it(
    desk: AccountsScenario, path: Path
) -> None:
    player = Player(player="a1", name="Аdmin", kind="bot")
    with closing(open_register(path)) as accounts:
        row = row_of(Identity(player, account=True, skeleton=skeleton("Аdmin")))
        with accounts.transaction():
            accounts.add_account(row)
    with TokenAdmin(path) as register:
        token = register.issue("Аdmin", "bot").token
        with pytest.raises(BadName):
            register.issue("r00t", "bot")
    assert desk.hello(token=token).identity.player == player
