#!/usr/bin/env python3
"""Made `defaults.db` and `unions.db` once: complete side tables as upstream Dflat fills them, by hand-written SQL, with rows by flatc.

  defaults.db  60 articles. Side tables of fields with defaults other than 0 hold the defaults; no column has a DEFAULT.
  unions.db    40 posts. Below the union, side tables hold the value at the same offset of whatever member is stored, since
               upstream's builder does not look at the tag: paths of photos stand in the index of links, and the reverse.

They are kept as they are: the script refuses to make a file anew.
"""
import json, os, sqlite3, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))


def encode(schema, objects):
    with tempfile.TemporaryDirectory() as work:
        names = []
        for number, item in enumerate(objects):
            name = f"{work}/{number:03}.json"
            names.append(name)
            with open(name, "w") as file:
                json.dump(item, file)
        subprocess.run(["flatc", "--binary", "-o", work, f"{here}/{schema}.fbs", *names], check=True)
        return [open(name[:-5] + ".bin", "rb").read() for name in names]


def database(name):
    path = f"{here}/../{name}.db"
    if os.path.exists(path):
        sys.exit(f"{path} is there, and stays")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    return connection


def side(connection, main, column, kind, values, unique=""):
    table = f"{main}__{column}"
    connection.execute(f"CREATE TABLE {table} (rowid INTEGER PRIMARY KEY, {column} {kind})")
    connection.execute(f"CREATE {unique} INDEX index__{table} ON {table} ({column})")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", enumerate(values, 1))


def defaults():
    articles = []
    for n in range(60):
        item = {"slug": f"a{n}", "title": f"title {n}", "code": n + 1, "votes": n % 7}
        if n % 2 == 1: item["rank"] = n
        if n % 3 == 1: item["label"] = f"label {n}"
        if n % 4 == 1: item["kind"] = "Opinion"
        if n % 5 == 1: item |= {"medium_type": "Picture", "medium": {"path": f"{n}.png"}}
        articles.append(item)
    main = "press__article_v1_0"
    connection = database("defaults")
    connection.execute(
        f"CREATE TABLE {main} (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, p BLOB, UNIQUE(__pk0))")
    rows = encode("article", articles)
    connection.executemany(
        f"INSERT INTO {main} (__pk0, p) VALUES (?, ?)", [(a["slug"], p) for a, p in zip(articles, rows)])
    side(connection, main, "f8", "INTEGER", [a.get("rank", 5) for a in articles])
    side(connection, main, "f14", "INTEGER", [1 if "kind" in a else 0 for a in articles])
    side(connection, main, "f16", "TEXT", [a.get("label", "plain") for a in articles])
    side(connection, main, "f22__type", "INTEGER", [1 if "medium" in a else None for a in articles])
    side(connection, main, "f34", "INTEGER", [a["code"] for a in articles], "UNIQUE")
    side(connection, main, "f36", "INTEGER", [a["votes"] for a in articles])
    connection.close()


def unions():
    posts = []
    for n in range(40):
        item = {"site": "s", "number": n, "likes": n % 4}
        if n % 4 == 1: item |= {"attachment_type": "Link", "attachment": {"url": f"same {n}"}}
        if n % 4 == 2: item |= {"attachment_type": "Photo", "attachment": {"path": f"photo {n}"}}
        posts.append(item)
    main = "blog__post_v1_0"
    connection = database("unions")
    connection.execute(
        f"CREATE TABLE {main} (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 INTEGER, p BLOB, "
        "UNIQUE(__pk0, __pk1))")
    rows = encode("blog", posts)
    connection.executemany(
        f"INSERT INTO {main} (__pk0, __pk1, p) VALUES ('s', ?, ?)",
        [(a["number"], p) for a, p in zip(posts, rows)])
    first = [next(iter(a.get("attachment", {}).values()), None) for a in posts]
    side(connection, main, "f10", "INTEGER", [a["likes"] for a in posts])
    side(connection, main, "f20__type", "INTEGER",
         [{"Link": 1, "Photo": 2}.get(a.get("attachment_type")) for a in posts])
    side(connection, main, "f20__u1__f4", "TEXT", first)
    side(connection, main, "f20__u2__f4", "TEXT", first, "UNIQUE")
    connection.close()


{"defaults": defaults, "unions": unions}[sys.argv[1]]()
