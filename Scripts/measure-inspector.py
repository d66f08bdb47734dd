#!/usr/bin/env python3
"""Measures how long the inspector's screens take: measure-inspector.py FILE [--program dflat] [--requests 1000].

Each question that a screen asks is asked so many times, with other objects each time, on a connection that stays open as a browser's
does. It prints the median, the 99th of 100 and the greatest time in milliseconds. Then another process commits all the time while pages
are asked for, and it prints how long it takes until a commit is shown. FILE is one that `--make N` has made: authors, and N posts that
refer to them.
"""

import argparse
import http.client
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

root = pathlib.Path(__file__).resolve().parent.parent
AUTHOR = "table Author { handle: string (primary); name: string; }\nroot_type Author;\n"
POST = """include "author.fbs";
table Photo { path: string; width: int; }
table Link { url: string; }
union Attachment { Photo, Link }
table Post {
  id: long (primary);
  title: string (indexed);
  likes: int (indexed);
  author: string (indexed, references: "Author");
  reviewer: string (references: "Author");
  attachment: Attachment;
  tags: [string];
  text: string;
}
root_type Post;
"""


def make(program, path, count):
    """Writes the file. Titles have 8 to 40 bytes, texts 20 to 200."""
    draw = random.Random(1)
    words = [f"{draw.choice('bcdfglmnprst')}{draw.choice('aeiou')}{draw.choice('lmnrst')}{draw.choice('aeiou')}" for _ in range(500)]
    sentence = lambda low, high: " ".join(draw.choices(words, k=draw.randint(low, high)))  # noqa: E731
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "author.fbs").write_text(AUTHOR)
        (folder / "post.fbs").write_text(POST)
        with open(folder / "authors.jsonl", "w") as file:
            for number in range(count // 100):
                print(json.dumps({"handle": f"a{number}", "name": sentence(2, 3)}), file=file)
        with open(folder / "posts.jsonl", "w") as file:
            for number in range(count):
                post = {"id": number, "title": sentence(2, 8), "likes": draw.randrange(100_000), "author": f"a{draw.randrange(count // 100)}",
                        "reviewer": f"a{draw.randrange(count // 100)}", "tags": draw.choices(words, k=draw.randrange(4)), "text": sentence(4, 40),
                        "attachment_type": "Photo", "attachment": {"path": f"{number}.jpg", "width": number % 4000}}
                print(json.dumps(post), file=file)
        for kind in ["author", "post"]:
            subprocess.run([program, "import", path, kind.capitalize(), folder / f"{kind}s.jsonl", "--schema", folder / "post.fbs",
                            "--schema", folder / "author.fbs", "--yes"], check=True, stdout=subprocess.DEVNULL)


class Session:
    def __init__(self, address):
        host, _, rest = address.removeprefix("http://").partition("/")
        self.host = host
        self.connection = http.client.HTTPConnection(host)
        self.connection.request("GET", "/" + rest)
        answer = self.connection.getresponse()
        answer.read()
        self.path, self.cookie = answer.headers["Location"], answer.headers["Set-Cookie"].split(";")[0]

    def send(self, method, path, body=None):
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.host}", "Content-Type": "application/json", "Dflat-Inspector": "1"}
        self.connection.request(method, self.path + path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"measure-inspector: {body}: {answer.status} {text[:300]}")
        return text

    def ask(self, **question):
        return json.loads(self.send("POST", "ask", json.dumps(question)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--program", default=str(root / ".build-release/release/dflat"))
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--make", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.program, arguments.file, arguments.make)
    process = subprocess.Popen([arguments.program, "serve", arguments.file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        session = Session(process.stdout.readline().strip())
        types = {kind["name"]: kind for kind in session.ask(ask="types")["types"]}
        post, author = types["Post"]["table"], types["Author"]["table"]
        posts, authors = types["Post"]["rows"], types["Author"]["rows"]
        draw = random.Random(2)
        row = lambda count: str(draw.randrange(1, count + 1))  # noqa: E731
        cases = {
            "the page": lambda: session.send("GET", ""),
            "types": lambda: session.ask(ask="types"),
            "a page of objects": lambda: session.ask(ask="rows", type=post, after=row(posts - 60)),
            "an object": lambda: session.ask(ask="object", type=post, row=row(posts)),
            "an object by its key": lambda: session.ask(ask="find", type=post, key=[str(draw.randrange(posts))]),
            "what refers to an object, by an index": lambda: session.ask(
                ask="referrers", type=author, row=row(authors), **{"from": post, "field": "author"}),
            "what refers to an object, without an index": lambda: session.ask(
                ask="referrers", type=author, row=row(authors), **{"from": post, "field": "reviewer"}),
            "a query by an index": lambda: session.ask(ask="query", text=f"Post where likes > {draw.randrange(99_000)} order by likes limit 50"),
            "health": lambda: session.ask(ask="health"),
        }
        def measure(name, request, count=arguments.requests):
            times = []
            for _ in range(count):
                start = time.perf_counter()
                request()
                times.append((time.perf_counter() - start) * 1000)
            times.sort()
            print(f"{name:44}{times[len(times) // 2]:9.2f}{times[len(times) * 99 // 100]:9.2f}{times[-1]:9.2f}")

        print(f"{posts:,} objects, {arguments.requests} requests each; milliseconds")
        print(f"{'':44}{'median':>9}{'p99':>9}{'most':>9}")
        for name, request in cases.items():
            measure(name, request)
        measure("the first look of the list of commits", lambda: session.ask(ask="live", since=-1), 1)
        lines = json.dumps({"id": 0, "title": "changed", "likes": 1}) + "\n"

        def commit():
            nonlocal lines
            lines = json.dumps({"id": 0, "title": f"changed {draw.random()}", "likes": 1}) + "\n"
            subprocess.run([arguments.program, "import", arguments.file, "Post", "-", "--yes"], input=lines, text=True, check=True,
                           capture_output=True)

        last = 0

        def commit_and_see():
            nonlocal last
            commit()
            last = session.ask(ask="live", since=last)["last"]

        measure("a commit of another process, until shown", commit_and_see, 5)
        is_done = threading.Event()

        def commit_often():
            while not is_done.is_set():
                commit()

        thread = threading.Thread(target=commit_often)
        thread.start()
        measure("a page of objects, while others commit", cases["a page of objects"])
        is_done.set()
        thread.join()
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmHWM:")[1].split()[0]
        print(f"memory at most: {int(status) // 1024} MiB")
    finally:
        process.terminate()
        process.wait(30)


main()
