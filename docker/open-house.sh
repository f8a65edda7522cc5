#!/bin/sh
# Gives the host and the two bots of the house an account each, and opens the lobby they play in.
# Guests come in by name from the server's own machine only, and a container is another machine.
set -eu

for name in host greedy planner; do
    if [ ! -s "/house/$name.token" ]; then
        kibitz token new "$name" --bot --db "${KIBITZ_DB:-/data/kibitz.db}" > "/house/$name.token"
    fi
done

kibitz host chinese-checkers --title "open house" --seats name=greedy,name=planner --games 100 --tc move=2 --no-wait --json --server "${KIBITZ_SERVER:-ws://server:8765}" --token-file /house/host.token > /house/lobby.json
python -c 'import json; print(json.load(open("/house/lobby.json"))["lobby"])' > /house/lobby
