#!/bin/sh
# Answers a call, and sends each key that the caller presses back as a tone, until the caller hangs up.
. "$(dirname "$0")/bot.sh"

# The first keys that the caller presses; it waits until there is one, or the call is over.
first_keys() {
  tell gather '{"maximum":64,"firstTimeout":60000,"betweenTimeout":60000}'
  while SHOWN=$(ask GET "/v1/calls/$CALL") && [ "$(echo "$SHOWN" | member state)" != ended ]; do
    KEYS=$(echo "$SHOWN" | member keys) && [ "$KEYS" ] && tell stop && return
    sleep 0.1
  done
  return 1
}

take_call
while first_keys; do
  tell keys "{\"keys\":\"$KEYS\"}"
  echo "$KEYS"
done
