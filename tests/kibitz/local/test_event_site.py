from __future__ import annotations

from pathlib import Path

from kibitz.local.event_site import EVENT_PATH, EventSite
from kibitz_clients.web.site import web_site


def body(site: EventSite) -> bytes:
    file = site.file(EVENT_PATH)
    assert file is not None
    return file.body


def test_the_document_is_the_one_that_is_there_now(tmp_path: Path) -> None:
    document = tmp_path / "live.json"
    site = EventSite(web_site(), document)
    assert body(site) == b"null"
    document.write_text('{"played":1}')
    first = site.file(EVENT_PATH)
    assert first is not None
    assert (first.body, first.content_type) == (b'{"played":1}', "application/json")
    assert not first.immutable
    other = tmp_path / "live.json.part"
    other.write_text('{"played":2}')
    other.replace(document)
    second = site.file(EVENT_PATH)
    assert second is not None
    assert second.body == b'{"played":2}'
    assert second.digest != first.digest
    document.unlink()
    assert body(site) == b"null"


def test_where_no_event_runs_there_is_none() -> None:
    assert body(EventSite(web_site())) == b"null"


def test_all_else_is_the_pages(tmp_path: Path) -> None:
    pages = web_site()
    site = EventSite(pages, tmp_path / "live.json")
    assert site.file("/event") == pages.file("/event")
    assert site.file("/nothing.js") is None
