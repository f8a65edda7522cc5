"""Playing and watching through the Model Context Protocol: a player whose moves tool calls make.

match_text     a match as text: who plays, the board, what is legal
player         one player on one connection, a method for each tool
server         the tools and resources, on the official SDK (the extra ``kibitz[mcp]``)
http           streamable HTTP for them

A tool result is made of what the server has told this player, and of nothing else.
"""
