"""Playing and watching through the Model Context Protocol: tool calls make a player's moves.

match_text     a match as text: who plays, the board, what is legal
player         one player on one connection, a method for each tool
server         the tools and resources, on the official SDK (the extra ``kibitz[mcp]``)
http           streamable HTTP for them

A tool result contains only information that the server has sent to this player.
"""
