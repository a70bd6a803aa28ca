#!/bin/sh
# Prints what happens in the calls of the application, one JSON object per line. It keeps the id of the last event in the
# file $CURSOR, and goes on behind it when the connection ends, or when it is started again.
. "$(dirname "$0")/bot.sh"
CURSOR=${CURSOR:-events.cursor}

events() { curl -sSNf "$BASE/v1/events?$1" -H "Authorization: Bearer $KEY" -H "Accept: $2"; }

until [ -s "$CURSOR" ]; do
  events wait=0 application/json | member next > "$CURSOR" && [ -s "$CURSOR" ] || sleep 1
done
while :; do
  events "since=$(cat "$CURSOR")" application/jsonl | while read -r EVENT; do
    [ "$EVENT" ] || continue
    echo "$EVENT"
    echo "$EVENT" | member id > "$CURSOR"
  done
  sleep 1
done
