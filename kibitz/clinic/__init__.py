"""What `kibitz doctor` is made of: a scripted server, matches on it, and the checks.

    kibitz.doctor ──> practice ──> checks ──> visit ──> stage     one socket, one lobby
                         │                      │
                      patient (a process)    positions (a play with one legal action)

Everything that the bot is told follows from the seed; the bot alone decides when it answers.
"""
