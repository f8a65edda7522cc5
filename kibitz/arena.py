"""An alias of `kibitz.commands.arena`, where the command was before."""

from kibitz.commands.arena import arena as arena
from kibitz_arena.runner.publish import publish as publish
