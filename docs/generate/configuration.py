"""Generate the reference of a server's settings from the table that the command reads."""

from __future__ import annotations

from collections.abc import Sequence

from docs.generate.markdown import table
from kibitz.options.settings import Setting

HEAD = """# Settings of a server

You can set each setting of `kibitz serve` as a command-line option, an environment variable, or a
key of the TOML file named by `--config`. The command line overrides the environment, the
environment overrides the file, and the file overrides the default.

| setting | form |
|---|---|
| option | `--allow-host NAME`; repeat it for several values |
| variable | `KIBITZ_SERVE_ALLOW_HOST`; separate several values by spaces; set a flag to `true` |
| key | `allow_host` or `allow-host`; several values are a list, and a flag is `true` or `false` |

The file may also contain the tables for [limits](limits.md#tables-of-the-configuration-file):
`[quotas]`, `[tariff]`, `[downloads]`, `[patience]`, `[allowance]` and `[keeping]`. If a key is
unknown or a value is out of range, the error message names the key.
"""


def page(settings: Sequence[Setting]) -> str:
    """Return the page: a row for each setting, then older names that still work."""
    rows = [
        [
            f"`--{each.name}`",
            f"`{each.key}`",
            f"`{each.variable}`",
            each.expected(),
            _default(each),
            each.help,
        ]
        for each in settings
    ]
    heads = ("option", "key", "variable", "value", "default", "meaning")
    older = [[f"`{name}`", f"`{each.key}`"] for each in settings for name in _older(each)]
    names = table(("key or variable", "same as"), older)
    parts = [HEAD, "## The settings\n", table(heads, rows), "## Older names\n", names]
    return "\n".join(parts)


def _older(setting: Setting) -> list[str]:
    field = f"{setting.part}.{setting.param}" if setting.part else setting.param
    return [*setting.variables, *([field] if field != setting.key else [])]


def _default(setting: Setting) -> str:
    if setting.is_flag:
        return "false"
    default = setting.shown_default or setting.default
    return "none" if default is None else str(default)
