#!/usr/bin/env python3
"""Does what `bench peers` measures with Python's sqlite3 module: see Sources/bench/Peers/PeerTask.swift.

    peers.py STORIES TASKS FILE RUNS

STORIES has a story in each line, its fields separated by tabs, and TASKS is JSON: what the tasks are about. The database is
made in FILE. It prints a line for each task: its id, the milliseconds of each run, and the number that the last run gave.
"""

import json
import sqlite3
import sys
import time

SCHEMA = """
CREATE TABLE story (id INTEGER PRIMARY KEY, feed INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
  is_read INTEGER NOT NULL, date INTEGER NOT NULL);
CREATE INDEX story_unread ON story (is_read, feed);
CREATE INDEX story_feed ON story (feed, date);
CREATE INDEX story_date ON story (date);
CREATE VIRTUAL TABLE words USING fts5 (title, text, content = story, content_rowid = id);
"""
COLUMNS = "s.id, s.feed, s.title, s.text, s.is_read, s.date"


def story(line):
    number, feed, title, text, is_read, date = line.rstrip("\n").split("\t")
    return int(number), int(feed), title, text, int(is_read), int(date)


def insert(database, stories):
    with database:
        database.executemany("INSERT INTO story VALUES (?, ?, ?, ?, ?, ?)", stories)
        database.executemany("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", ((s[0], s[2], s[3]) for s in stories))


def size(rows):
    return sum(len(row[2]) for row in rows)


def select(database, rest, values=()):
    return database.execute(f"SELECT {COLUMNS} FROM story AS s {rest}", values).fetchall()


def mark(database, numbers, is_read):
    with database:
        database.executemany("UPDATE story SET is_read = ? WHERE id = ?", ((is_read, number) for number in numbers))


def search(database, words):
    return size(database.execute(
        f"SELECT {COLUMNS} FROM words JOIN story AS s ON s.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 20",
        (words,)).fetchall())


def show(database, numbers, is_read):
    total = 0
    for number in numbers:
        mark(database, [number], is_read)
        rows = select(database, "WHERE feed = ? ORDER BY date DESC, id", (7,))
        total += sum(len(row[2]) + row[4] for row in rows)
    return total


def main():
    stories_path, tasks_path, path, runs = sys.argv[1:]
    with open(stories_path) as file:
        stories = [story(line) for line in file]
    with open(tasks_path) as file:
        data = json.load(file)
    stored, few = data["stored"], data["few"]
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.executescript(SCHEMA)
    insert(database, stories[:stored])
    tasks = {
        "insert": lambda run: insert(database, stories[stored + run * few:stored + (run + 1) * few]) or 0,
        "newest": lambda run: sum(size(select(database, "ORDER BY date DESC LIMIT 50")) for _ in range(100)),
        "ids": lambda run: size(select(database, f"WHERE id IN ({','.join(map(str, data['someIDs']))})")),
        "all": lambda run: sum(
            len(s[2]) + len(s[3]) + s[4] + s[1] + s[5] % 10 for s in select(database, "WHERE id < ?", (few,))),
        "unread": lambda run: sum(
            feed * count
            for feed, count in database.execute("SELECT feed, count(*) FROM story WHERE is_read = 0 GROUP BY feed")),
        "mark": lambda run: mark(database, data["markedIDs"], 1 - run % 2) or 0,
        "search": lambda run: sum(search(database, words) for words in data["searches"]),
        "show": lambda run: show(database, data["shownIDs"], 1 - run % 2),
    }
    for name, task in tasks.items():
        times = []
        for run in range(int(runs)):
            start = time.perf_counter()
            answer = task(run)
            times.append((time.perf_counter() - start) * 1000)
        print(json.dumps({"id": name, "milliseconds": times, "answer": answer}))


main()
