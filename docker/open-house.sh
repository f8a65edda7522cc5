#!/bin/sh
# Gives an account each to the keeper of the ladder and to the two bots that play on it.
# Guests come in by name from the server's own machine only, and a container is another machine.
set -eu

for name in host greedy planner; do
    if [ ! -s "/house/$name.token" ]; then
        kibitz token new "$name" --bot --db "${KIBITZ_DB:-/data/kibitz.db}" > "/house/$name.token"
    fi
done
