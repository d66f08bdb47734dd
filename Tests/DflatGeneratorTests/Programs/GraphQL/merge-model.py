#!/usr/bin/env python3
"""Judges how responses are merged into stored objects, by a model that was written from the rules alone.

    merge-model.py PROGRAM SEED STEPS

PROGRAM reads one response after the other, and answers each with what is stored then. The rules:

- Only selected fields change. Null clears a field; one that is absent, or that the path of an error names, stays.
- An object with a key is one object, wherever it stands. Other objects are a part of the one that holds them, and merge field
  by field.
- A list is replaced as a whole. An error in an element without a key leaves what the stored element at its place has.
- A list that pages gets each new key once, behind all others or before them; the other end of the list keeps what `pageInfo`
  has said about it.
- What no value stands for, such as an enum value that the schema does not have, is null.
"""

import datetime
import json
import random
import subprocess
import sys

# The kinds of fields. An entity is stored by its key.
TYPES = {
    "User": {"name": "text", "age": "number", "born": "date", "mood": "enum", "avatar": ["part", "Image"], "friends": ["entities", "User"],
             "tags": "texts", "images": ["parts", "Image"], "repos": ["part", "Connection"], "best": ["entity", "Repo"]},
    "Image": {"small": "text", "large": "text", "size": ["part", "Size"]},
    "Size": {"width": "number", "height": "number"},
    "Repo": {"name": "text", "owner": ["entity", "User"], "stars": "number"},
    "Connection": {"totalCount": "number", "nodes": ["entities", "Repo"], "pageInfo": ["part", "PageInfo"]},
    "PageInfo": {"startCursor": "text", "endCursor": "text", "hasNextPage": "flag", "hasPreviousPage": "flag"},
    "Query": {"user": ["entity", "User"], "users": ["entities", "User"], "repo": ["entity", "Repo"]},
}

# What the operations select, as in judged.graphql.
OPERATIONS = {
    "Names": {"users": {"name": {}, "age": {}, "born": {}}},
    "Small": {"user": {"avatar": {"small": {}, "size": {"width": {}}}, "tags": {}}},
    "Large": {"user": {"avatar": {"large": {}, "size": {"height": {}}}, "mood": {}}},
    "Deep": {"user": {"friends": {"name": {}, "best": {"stars": {}, "owner": {"age": {}, "mood": {}}}}, "images": {"small": {}, "large": {}}}},
    "Some": {"user": {"name": {}, "age": {}, "avatar": {"small": {}}}},
    "Page": {"user": {"repos": {"totalCount": {}, "nodes": {"name": {}}, "pageInfo": {
        "startCursor": {}, "endCursor": {}, "hasNextPage": {}, "hasPreviousPage": {}}}}},
    "Repo": {"repo": {"name": {}, "owner": {"name": {}, "mood": {}}, "stars": {}}},
}
# Fields that variables may leave out.
OMITTED = {"Some": {"name", "age", "avatar"}}
MOODS = {"GLAD": "glad", "SAD": "sad"}
PAGES = {"append": ["endCursor", "hasNextPage"], "prepend": ["startCursor", "hasPreviousPage"]}


# The model

def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)


class Model:
    def __init__(self):
        self.stored = {"User": {}, "Repo": {}}

    def store(self, response, update):
        self.errors = [error["path"] for error in response.get("errors", [])]
        self.update = update
        self.merge({}, "Query", response["data"], [])

    def entity(self, type, value, path):
        target = self.stored[type].setdefault(value["id"], {"id": value["id"]})
        self.merge(target, type, {name: field for name, field in value.items() if name != "id"}, path)
        return value["id"]

    def merge(self, target, type, value, path):
        if type == "Connection":
            isFirst = not target.get("nodes")
        for name, field in value.items():
            here = path + [name]
            if here in self.errors:
                continue
            kind = TYPES[type][name]
            if field is None:
                target.pop(name, None)
            elif kind in ("text", "number", "flag"):
                target[name] = field
            elif kind == "date":
                target[name] = milliseconds(field)
            elif kind == "enum":
                target.pop(name, None)
                if field in MOODS:
                    target[name] = MOODS[field]
            elif kind == "texts":
                target[name] = [text for text in field if text is not None]
            elif kind[0] == "entity":
                target[name] = self.entity(kind[1], field, here)
            elif kind[0] == "parts":
                before, target[name] = target.get(name, []), []
                for index, element in enumerate(field):
                    # What has failed in an element without a key is that of the element at its place.
                    place = here + [index]
                    isPartial = any(error[:len(place)] == place for error in self.errors)
                    part = dict(before[index]) if isPartial and index < len(before) else {}
                    self.merge(part, kind[1], element, place)
                    target[name].append(part)
            elif kind[0] == "entities":
                keys = [self.entity(kind[1], element, here + [index]) for index, element in enumerate(field)]
                keys = list(dict.fromkeys(keys)) if type == "Connection" and self.update else keys
                if type == "Connection" and self.update and not isFirst:
                    before = target[name]
                    new = [key for key in keys if key not in before]
                    keys = before + new if self.update == "append" else new + before
                target[name] = keys
            elif kind[1] == "PageInfo" and self.update and not isFirst:
                end = {name: one for name, one in field.items() if name in PAGES[self.update]}
                self.merge(target.setdefault(name, {}), kind[1], end, here)
            else:
                self.merge(target.setdefault(name, {}), kind[1], field, here)


# Responses

class Server:
    """Answers an operation. Within one answer, a field of an object has one value."""

    def __init__(self, chance):
        self.chance = chance

    def answer(self, operation):
        self.known = {}
        self.errors = []
        self.omitted = {name for name in OMITTED.get(operation, ()) if self.chance.random() < 0.5}
        data = self.fields("Query", None, OPERATIONS[operation], [])
        return {"data": data, "errors": self.errors} if self.errors else {"data": data}

    def fields(self, type, key, selection, path):
        result = {}
        for name, inner in selection.items():
            if name in self.omitted and len(path) == 1:
                continue
            here = path + [name]
            # Errors stand where something may be null, and not inside lists that page.
            mayFail = "repos" not in here and type != "Query" and TYPES[type][name] != "texts"
            if mayFail and self.chance.random() < 0.05:
                self.errors.append({"message": "failed", "path": here})
                result[name] = None
            elif key and not inner:
                if (key, name) not in self.known:
                    self.known[key, name] = self.value(TYPES[type][name], inner, here)
                result[name] = self.known[key, name]
            else:
                result[name] = self.value(TYPES[type][name], inner, here)
        return result

    def value(self, kind, inner, path):
        chance = self.chance
        if chance.random() < 0.15 and path[-1] != "users":
            return None
        if kind == "text":
            return chance.choice(["", "a", "é", "long text " * 3])
        if kind == "number":
            return chance.choice([0, 1, -7, 2**31 - 1])
        if kind == "flag":
            return chance.random() < 0.5
        if kind == "date":
            return chance.choice(["1970-01-01T00:00:00+00:00", "2026-03-01T10:00:00.250+02:00", "1969-12-31T23:59:59.500-05:00"])
        if kind == "enum":
            return chance.choice(["GLAD", "SAD", "ODD"])
        count = chance.choice([0, 1, 2, 3])
        if kind == "texts":
            return [chance.choice(["x", "y", None]) for _ in range(count)]
        if kind[0] == "part":
            return self.fields(kind[1], None, inner, path)
        if kind[0] == "entity":
            return self.object(kind[1], chance.randrange(1, 5), inner, path)
        if kind[0] == "parts":
            return [self.fields(kind[1], None, inner, path + [index]) for index in range(count)]
        keys = [chance.randrange(1, 5) for _ in range(count)]
        return [self.object(kind[1], key, inner, path + [index]) for index, key in enumerate(keys)]

    def object(self, type, key, inner, path):
        key = f"{type[0]}{key}"
        return {"id": key, **self.fields(type, key, inner, path)}


# Comparison

def known(value):
    """Without nulls and empty lists, which say the same as nothing."""
    if isinstance(value, dict):
        return {name: known(field) for name, field in value.items() if field is not None and field != []}
    return [known(element) for element in value] if isinstance(value, list) else value


def main():
    program, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    server, model = Server(chance), Model()
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for step in range(steps):
        operation = chance.choice(list(OPERATIONS))
        update = chance.choice([None, "append", "prepend"]) if operation == "Page" else None
        response = server.answer(operation)
        before = json.dumps(model.stored)
        model.store(response, update)
        request = {"operation": operation, "update": update or "", "response": json.dumps(response)}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            print(f"seed {seed}, step {step}: the program ended with {process.wait()} after {json.dumps(request)}")
            return 1
        found = {type: {one["id"]: known(one) for one in objects} for type, objects in json.loads(line).items()}
        if found != known(model.stored):
            print(f"seed {seed}, step {step}: {operation} {update}\nbefore   {before}\nresponse {json.dumps(response)}")
            print(f"model    {json.dumps(known(model.stored), sort_keys=True)}\nstored   {json.dumps(found, sort_keys=True)}")
            return 1
    process.stdin.close()
    print(f"{steps} responses are stored as the model says")
    return process.wait()


sys.exit(main())
