# What the examples share; they source it. `ask METHOD PATH [BODY]` asks the gateway, `tell COMMAND [BODY]` gives a
# command about $CALL, and `member NAME` reads the first member of that name out of an answer.
BASE=${BASE:-http://127.0.0.1:8080} KEY=${KEY:-owk_demo-key-of-orbweaver-that-everybody-knows}

ask() {
  curl -sS -X "$1" "$BASE$2" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${3:+-d "$3"}
}
tell() { ask POST "/v1/calls/$CALL/$1" "$2" > /dev/null; }
member() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4; }

# Answers the next call that rings; it waits for one.
take_call() {
  until CALL=$(ask GET '/v1/calls?state=ringing&direction=incoming&limit=1' | member id) && [ "$CALL" ]; do sleep 0.2; done
  tell answer
}
