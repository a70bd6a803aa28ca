"""Takes each call of an application, by the answer of its webhook: python webhook.py PORT. Behind it a program checks
the signature, which is left out here (docs/call-events.md, Webhooks)."""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_asked = event["type"] == "leg.invited" and "decideBy" in event["data"]
        answer = json.dumps({"command": "answer"} if is_asked else {}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
