"""The protocol between a kibitz server and its clients.

wire/        formats on the wire and on disk: messages, records, and the rules that the server
             and its clients share (clocks, visibility, shares, record files)
client/      the client's side: a session without I/O and the asyncio `Client`
printable    the filter that makes untrusted text safe to display
"""
