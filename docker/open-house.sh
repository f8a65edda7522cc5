#!/bin/sh
# Creates accounts for the host of the ladder and for the two bots that play on it. They cannot be
# guests, because guests may only connect from the server's own machine, which a container is not.
set -eu

for name in host greedy planner; do
    if [ ! -s "/house/$name.token" ]; then
        kibitz token new "$name" --bot --db "${KIBITZ_DB:-/data/kibitz.db}" > "/house/$name.token"
    fi
done
