"""The server of the demo: users to fetch, answers to receive, and a record of both.

usage: server.py RECORD

It prints its port. The record outlives it, so that a restarted server knows which idempotency keys it has seen. Each line has the
time of day and what has happened. Every fifth answer is refused once with 503, before anything is done.
"""

import datetime
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

RECORD = pathlib.Path(sys.argv[1])
NAMES = ["Ada", "Bob", "Cy", "Di", "Eve", "Fay"]
lock = threading.Lock()
lines = [json.loads(line) for line in RECORD.read_text().splitlines()] if RECORD.exists() else []
seen = {line["key"] for line in lines if line["event"] == "applied"}
refused = {line["key"] for line in lines if line["event"] == "refused"}
count = 0


def note(event, **details):
    time = datetime.datetime.now().time().isoformat("milliseconds")
    lines.append({"time": time, "event": event, **details})
    with RECORD.open("a") as file:
        file.write(json.dumps(lines[-1]) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        with lock:
            if url.path == "/record":
                return self.answer(200, lines)
            ids = [int(id) for id in urllib.parse.parse_qs(url.query)["ids"][0].split(",")]
            note("users", what=" ".join(map(str, sorted(ids))))
            self.answer(200, [{"id": id, "name": NAMES[id]} for id in ids if id < len(NAMES)])

    def do_POST(self):
        global count
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        with lock:
            count += 1
            if count % 5 == 0 and key not in refused and key not in seen:
                refused.add(key)
                note("refused", key=key, id=body["id"], what=body["texts"][0])
                return self.answer(503, {})
            note("repeated" if key in seen else "applied", key=key, id=body["id"], what=body["texts"][0])
            seen.add(key)
            self.answer(200, {})

    def log_message(self, *arguments):
        pass


note("started", what="")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
