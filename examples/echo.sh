#!/bin/sh
# Answers a call, and sends each key that the caller presses back as a tone, until the caller hangs up.
. "$(dirname "$0")/bot.sh"

next_call
ask POST "/v1/calls/$CALL/answer" > /dev/null
while
  ask POST "/v1/calls/$CALL/gather" '{"maximum":64,"firstTimeout":60000,"betweenTimeout":60000}' > /dev/null
  first_keys
do
  ask POST "/v1/calls/$CALL/stop" > /dev/null
  ask POST "/v1/calls/$CALL/keys" "{\"keys\":\"$KEYS\"}" > /dev/null
  echo "$KEYS"
done
