#!/bin/sh
# A menu: 1 plays a tone, 2 puts the caller through to $AGENT, 0 hangs up.
. "$(dirname "$0")/bot.sh"
AGENT=${AGENT:-alice@dev.local}

# The first keys that the caller presses; it waits until there is one, or the call is over.
first_keys() {
  tell gather '{"maximum":64,"firstTimeout":60000,"betweenTimeout":60000,"prompt":{"items":[{"tone":"dial"}]}}'
  while SHOWN=$(ask GET "/v1/calls/$CALL") && [ "$(echo "$SHOWN" | member state)" != ended ]; do
    KEYS=$(echo "$SHOWN" | member keys) && [ "$KEYS" ] && tell stop && return
    sleep 0.1
  done
  return 1
}

take_call
while first_keys; do
  echo "chosen: $KEYS"
  case $KEYS in
    1*) tell play '{"items":[{"tone":"special-information","duration":2000}]}'; sleep 2 ;;
    2*) tell transfer "{\"to\":\"$AGENT\"}" ;;
    0*) tell end '{"reasonText":"Good bye"}' ;;
  esac
done
