#!/bin/sh
# A two-way bridge: the next caller hears music until $AGENT answers, and then talks to $AGENT alone.
. "$(dirname "$0")/bot.sh"
AGENT=${AGENT:-alice@dev.local}

state() { ask GET "/v1/calls/$1" | member state; }

take_call
tell play '{"items":[{"music":true}]}'
OTHER=$(ask POST /v1/calls "{\"to\":\"$AGENT\",\"ringTimeout\":30000}" | member id)
while
  HERE=$(state "$CALL") THERE=$(state "$OTHER")
  [ "$OTHER" ] && [ "$HERE" != ended ] && [ "$THERE" != ended ] && [ "$THERE" != talking ]
do sleep 0.2; done
# A refusal is a problem, which has a code.
if [ "$HERE$THERE" = talkingtalking ] &&
  ! ask POST "/v1/calls/$CALL/bridge" "{\"call\":\"$OTHER\",\"bot\":\"leave\"}" | grep -q '"code":'; then
  echo "bridged with $AGENT"
else
  tell end '{"reasonText":"Nobody is here"}'
  ask POST "/v1/calls/$OTHER/end" > /dev/null
  echo "not bridged"
fi
