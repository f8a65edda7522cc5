"""Merge patches: the examples in RFC 7396, and differences between objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.merge_patch import apply, difference
from kibitz_protocol.wire.values import Fields
from tests.tools.sample_messages import NEWS

EXAMPLES: list[tuple[Any, Any, Any]] = [
    # original, patch, result: appendix A of the RFC
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("original", "patch", "result"), EXAMPLES)
def test_the_examples_of_the_rfc(original: Any, patch: Any, result: Any) -> None:
    before = json.dumps(original)
    assert apply(original, patch) == result
    assert json.dumps(original) == before


_NAMES = st.sampled_from("abc")
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.integers(0, 2) | st.text(max_size=1) | st.lists(st.none() | st.integers(0, 1), max_size=2),
    lambda inner: st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(_NAMES, _VALUES, max_size=3)
_WITH_NULLS = st.dictionaries(_NAMES, st.none() | _VALUES, max_size=3)


@given(old=_OBJECTS, new=_OBJECTS)
def test_a_difference_leads_from_one_object_to_the_other(old: Fields, new: Fields) -> None:
    patch = json.loads(json.dumps(difference(old, new)))
    assert apply(old, patch) == new
    assert apply(new, patch) == new, "applying it twice does no harm"
    assert bool(patch) == (old != new)


@given(old=_OBJECTS, new=_OBJECTS)
def test_a_difference_has_only_fields_that_differ(old: Fields, new: Fields) -> None:
    patch = difference(old, new)
    assert patch.keys() == {name for name in old | new if old.get(name) != new.get(name)}


@given(old=_WITH_NULLS, new=_WITH_NULLS)
def test_null_fields_count_as_absent(old: Fields, new: Fields) -> None:
    bare = [
        {name: value for name, value in each.items() if value is not None} for each in (old, new)
    ]
    assert difference(old, new) == difference(*bare)


@given(old=_OBJECTS, new=_OBJECTS)
def test_a_patch_is_hardly_larger_than_the_whole(old: Fields, new: Fields) -> None:
    """Besides new values it contains only names of removed keys, so no limit is needed."""
    size = len(json.dumps(difference(old, new)))
    assert size <= len(json.dumps(new)) + sum(_removals(old, new))


def _removals(old: Fields, new: Fields) -> list[int]:
    sizes = [len(json.dumps({name: None})) for name in old.keys() - new.keys()]
    for name in old.keys() & new.keys():
        former, value = old[name], new[name]
        if isinstance(former, dict) and isinstance(value, dict):
            sizes += _removals(former, value)
    return sizes


def test_models_count_as_what_is_written_of_them() -> None:
    before = next(news for news in NEWS if news.type == "hall")
    brief = before.matches["m1"]
    after = before.model_copy(update={"matches": {"m1": brief.model_copy(update={"tag": "x"})}})
    assert difference(before, after) == {"matches": {"m1": {"tag": "x"}}}
    assert difference(after, before) == {"matches": {"m1": {"tag": None}}}
    gone = before.model_copy(update={"matches": {}})
    assert difference(before, gone) == {"matches": {"m1": None}}
    assert difference(gone, before) == {
        "matches": {"m1": json.loads(brief.model_dump_json(exclude_none=True))}
    }
