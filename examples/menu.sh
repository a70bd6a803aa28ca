#!/bin/sh
# A menu: 1 plays a tone, 2 puts the caller through to $AGENT, 0 hangs up.
. "$(dirname "$0")/bot.sh"
AGENT=${AGENT:-alice@dev.local}

next_call
ask POST "/v1/calls/$CALL/answer" > /dev/null
while
  ask POST "/v1/calls/$CALL/gather" \
    '{"maximum":64,"firstTimeout":60000,"betweenTimeout":60000,"prompt":{"items":[{"tone":"dial"}]}}' > /dev/null
  first_keys
do
  ask POST "/v1/calls/$CALL/stop" > /dev/null
  echo "chosen: $KEYS"
  case $KEYS in
    1*) ask POST "/v1/calls/$CALL/play" '{"items":[{"tone":"special-information","duration":2000}]}' > /dev/null
        sleep 2 ;;
    2*) ask POST "/v1/calls/$CALL/transfer" "{\"to\":\"$AGENT\"}" > /dev/null ;;
    0*) ask POST "/v1/calls/$CALL/end" '{"reasonText":"Good bye"}' > /dev/null ;;
  esac
done
