# What the examples share: `ask METHOD PATH [BODY]` asks the gateway, `member NAME` reads the first member of that name
# out of an answer. Source it.
BASE=${BASE:-http://127.0.0.1:8080} KEY=${KEY:-owk_demo-key-of-orbweaver-that-everybody-knows}

ask() {
  curl -sS -X "$1" "$BASE$2" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${3:+-d "$3"}
}

member() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4; }

# The next call that rings; it waits for one.
next_call() {
  until CALL=$(ask GET '/v1/calls?state=ringing&direction=incoming&limit=1' | member id) && [ "$CALL" ]; do sleep 0.2; done
}

# The keys that a gathering has so far; it waits until there is one, or the call is over.
first_keys() {
  while SHOWN=$(ask GET "/v1/calls/$CALL") && [ "$(echo "$SHOWN" | member state)" != ended ]; do
    KEYS=$(echo "$SHOWN" | member keys) && [ "$KEYS" ] && return
    sleep 0.1
  done
  return 1
}
