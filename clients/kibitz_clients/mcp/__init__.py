"""Playing and watching through the Model Context Protocol, with moves made by tool calls.

match_text a match as text: players, board, legal moves
player         one player on one connection, a method for each tool
server         the tools and resources, on the official SDK (the extra ``kibitz[mcp]``)
http           streamable HTTP for them

A tool result contains only information that the server has sent to this player.
"""
