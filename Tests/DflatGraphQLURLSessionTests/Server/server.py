#!/usr/bin/env python3
"""A GraphQL service on loopback, which answers in every way that a client may ask for.

It prints its port, and then a line for each event that a test waits for. It ends with its standard input. graphql-core executes the
operations; it does not know @defer, so the part that is deferred is cut out of its answer.

    /graphql    GET with the hash of a document; POST with JSON or a form; Accept chooses one answer, parts or events
    /socket     the same by graphql-transport-ws
    /status/N   a page with that status; /json/N the same as JSON that is not GraphQL; /page a page
    /flood      events without end
    /hang       the head of an answer, and nothing more; /silent not even that
"""

import base64
import email
import hashlib
import http.server
import json
import sys
import threading
import time
import urllib.parse

import graphql

SCHEMA = graphql.build_schema("""
scalar Upload
directive @defer on INLINE_FRAGMENT
type Hero { name: String!  bio: String }
type Query { hero: Hero!  echo(text: String!): String!  secret: String }
type Mutation { send(file: Upload!, note: String): String! }
type Subscription { count(to: Int!): Int! }
""")


def secret(_, info):
    if info.context.get("Authorization") != "Bearer open":
        raise graphql.GraphQLError("not for you")
    return "42"


SCHEMA.query_type.fields["hero"].resolve = lambda *_: {"name": "R2-D2", "bio": "Small and brave."}
SCHEMA.query_type.fields["echo"].resolve = lambda _, info, text: text
SCHEMA.query_type.fields["secret"].resolve = secret
SCHEMA.mutation_type.fields["send"].resolve = lambda _, info, file, note=None: f"{file['name']} {file['text']} {note}"

documents = {}


def event(text):
    print(text, flush=True)


def execute(body, context):
    value = graphql.graphql_sync(
        SCHEMA, body["query"], variable_values=body.get("variables"), operation_name=body.get("operationName"), context_value=context)
    return value.formatted


def counted(body):
    """The answers of the subscription, or the errors of one that is refused."""
    errors = graphql.validate(SCHEMA, graphql.parse(body["query"]))
    if errors:
        return None, [error.formatted for error in errors]
    return [{"data": {"count": number + 1}} for number in range(body["variables"]["to"])], None


def persisted(body):
    """The operation with its document; a refusal if the service does not know it."""
    known = body.get("extensions", {}).get("persistedQuery")
    if not known:
        return body, None
    digest = known["sha256Hash"]
    if body.get("query"):
        if hashlib.sha256(body["query"].encode()).hexdigest() != digest:
            return body, {"errors": [{"message": "provided sha does not match query"}]}
        documents[digest] = body["query"]
    if digest not in documents:
        return body, {"errors": [{"message": "PersistedQueryNotFound", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]}
    return {**body, "query": documents[digest]}, None


def form(content, content_type):
    """The operation of a form, with files in their places."""
    message = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + content)
    parts = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
    body = json.loads(parts["operations"].get_payload(decode=True))
    for name, paths in json.loads(parts["map"].get_payload(decode=True)).items():
        file = {"name": parts[name].get_filename(), "text": parts[name].get_payload(decode=True).decode()}
        for path in paths:
            place, *steps = [body] + path.split(".")
            for step in steps[:-1]:
                place = place[step]
            place[steps[-1]] = file
    return body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, content, content_type="application/graphql-response+json; charset=utf-8", status=200):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def begin(self, content_type):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def waits_until_client_leaves(self):
        try:
            while self.connection.recv(1024):
                pass
        except OSError:
            pass
        event("left")

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        if path.path == "/socket":
            return self.socket()
        query = dict(urllib.parse.parse_qsl(path.query))
        body = {key: json.loads(text) if key in ("variables", "extensions") else text for key, text in query.items()}
        body, refusal = persisted(body)
        event(f"GET {body.get('operationName')}")
        self.answer(refusal or execute(body, self.headers), status=400 if refusal else 200)

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        kind, *rest = self.path.strip("/").split("/")
        if kind == "status":
            return self.answer(b"<p>sorry</p>", "text/html", int(rest[0]))
        if kind == "json":
            return self.answer({"message": "sorry"}, "application/json", int(rest[0]))
        if kind == "page":
            return self.answer(b"<p>hello</p>", "text/html; charset=utf-8")
        if kind in ("flood", "hang", "silent"):
            return getattr(self, kind)()
        if self.headers["Content-Type"].startswith("multipart/"):
            body = form(content, self.headers["Content-Type"])
        else:
            body = json.loads(content)
        body, refusal = persisted(body)
        event(f"POST {body.get('operationName')}" + (" persisted" if "extensions" in body else ""))
        accept = self.headers["Accept"]
        if refusal:
            self.answer(refusal, status=400)
        elif accept == "text/event-stream":
            self.events(body)
        elif accept.startswith("multipart/mixed") and "@defer" in body["query"]:
            self.parts(body)
        else:
            value = execute(body, self.headers)
            self.answer(value, status=401 if "errors" in value else 200)

    def flood(self):
        self.begin("text/event-stream")
        try:
            while True:
                self.wfile.write(b": nothing\n\n" * 1000)
                time.sleep(0.002)
        except OSError:
            event("left")

    def hang(self):
        self.begin("text/event-stream")
        self.wfile.write(b"event: next\ndata: {\"data\": {\"count\": 0}}\n\n")
        self.waits_until_client_leaves()

    def silent(self):
        event("asked")
        self.waits_until_client_leaves()

    def events(self, body):
        values, errors = counted(body)
        if errors:
            return self.answer({"errors": errors}, status=400)
        self.begin("text/event-stream; charset=utf-8")
        for value in values:
            self.wfile.write(f": \n\nevent: next\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.write(b"event: complete\ndata:\n\n")

    def parts(self, body):
        whole = execute(body, self.headers)
        bio = whole["data"]["hero"].pop("bio")
        self.begin('multipart/mixed; boundary="-"; deferSpec=20220824')
        later = {"incremental": [{"path": ["hero"], "data": {"bio": bio}}], "hasNext": False}
        for part in ({**whole, "hasNext": True}, {}, later):
            self.wfile.write(b"\r\n---\r\nContent-Type: application/json\r\n\r\n" + json.dumps(part).encode())
            self.wfile.flush()
        self.wfile.write(b"\r\n-----\r\n")

    # WebSocket: short frames of a client are enough here.

    def socket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.send_header("Sec-WebSocket-Protocol", self.headers["Sec-WebSocket-Protocol"])
        self.end_headers()
        self.close_connection = True
        while (message := self.receive()) is not None:
            kind = message["type"]
            if kind == "connection_init":
                if message.get("payload", {}).get("token") != "open":
                    return self.frame(0x88, (4403).to_bytes(2, "big") + b"Forbidden")
                self.send(type="connection_ack")
            elif kind == "subscribe":
                values, errors = counted(message["payload"])
                for value in values or []:
                    self.send(id=message["id"], type="next", payload=value)
                if errors:
                    self.send(id=message["id"], type="error", payload=errors)
                else:
                    self.send(id=message["id"], type="complete")

    def receive(self):
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 0x0F == 8:
            return None
        size = head[1] & 0x7F
        if size == 126:
            size = int.from_bytes(self.rfile.read(2), "big")
        mask, content = self.rfile.read(4), self.rfile.read(size)
        return json.loads(bytes(byte ^ mask[index % 4] for index, byte in enumerate(content)))

    def send(self, **message):
        self.frame(0x81, json.dumps(message).encode())

    def frame(self, kind, content):
        size = bytes([len(content)]) if len(content) < 126 else b"\x7e" + len(content).to_bytes(2, "big")
        self.wfile.write(bytes([kind]) + size + content)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
event(server.server_port)
sys.stdin.read()
