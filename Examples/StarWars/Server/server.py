#!/usr/bin/env python3
"""A GraphQL server for the example, on loopback only.

    server.py SCHEMA    listens on a free port, which it prints, until its standard input ends

It needs python3-graphql-core. The data are in memory: each start begins with the same.
"""

import http.server
import json
import pathlib
import sys
import threading

import graphql

EPISODES = ["NEWHOPE", "EMPIRE", "JEDI"]

STARSHIPS = {
    "3000": {"name": "Millennium Falcon", "length": 34.37, "built": "1977-05-25"},
    "3001": {"name": "X-Wing", "length": 12.5, "built": None},
    "3002": {"name": "TIE Advanced x1", "length": 9.2, "built": None},
}

CHARACTERS = {
    "1000": {"type": "Human", "name": "Luke Skywalker", "friends": ["1002", "1003", "2000", "2001"], "appearsIn": EPISODES,
             "height": 1.72, "mass": 77.0, "homePlanet": "Tatooine", "starships": ["3001"]},
    "1001": {"type": "Human", "name": "Darth Vader", "friends": [], "appearsIn": EPISODES,
             "height": 2.02, "mass": 136.0, "homePlanet": "Tatooine", "starships": ["3002"]},
    "1002": {"type": "Human", "name": "Han Solo", "friends": ["1000", "1003", "2001"], "appearsIn": EPISODES,
             "height": 1.8, "mass": 80.0, "homePlanet": None, "starships": ["3000"]},
    "1003": {"type": "Human", "name": "Leia Organa", "friends": ["1000", "1002", "2000", "2001"], "appearsIn": EPISODES,
             "height": 1.5, "mass": 49.0, "homePlanet": "Alderaan", "starships": []},
    "2000": {"type": "Droid", "name": "C-3PO", "friends": ["1000", "1002", "1003", "2001"], "appearsIn": EPISODES,
             "primaryFunction": "Protocol"},
    "2001": {"type": "Droid", "name": "R2-D2", "friends": ["1000", "1002", "1003"], "appearsIn": EPISODES,
             "primaryFunction": "Astromech"},
}

HEROES = {"NEWHOPE": "1000", "EMPIRE": "1000", "JEDI": "2001"}


def character(id):
    found = CHARACTERS.get(id)
    return found and {"id": id, **found}


def starship(id):
    found = STARSHIPS.get(id)
    return found and {"id": id, "type": "Starship", **found}


def search(text):
    everything = [character(id) for id in CHARACTERS] + [starship(id) for id in STARSHIPS]
    return [one for one in everything if text.lower() in one["name"].lower()]


def move(id, planet=None):
    if id not in CHARACTERS or CHARACTERS[id]["type"] != "Human":
        raise graphql.GraphQLError(f"there is no human {id}")
    CHARACTERS[id]["homePlanet"] = planet
    return character(id)


def rate(rating):
    if rating["starship"] not in STARSHIPS:
        raise graphql.GraphQLError(f"there is no starship {rating['starship']}")
    STARSHIPS[rating["starship"]]["stars"] = rating["stars"]
    return starship(rating["starship"])


def height(human, info, unit):
    return human["height"] if unit == "METRE" else round(human["height"] * 3.28084, 2)


def make_schema(path):
    schema = graphql.build_schema(pathlib.Path(path).read_text())

    def resolve(type, field, function):
        schema.type_map[type].fields[field].resolve = function

    resolve("Query", "hero", lambda _, info, episode="JEDI": character(HEROES[episode]))
    resolve("Query", "character", lambda _, info, id: character(id))
    resolve("Query", "human",
            lambda _, info, id: character(id) if CHARACTERS.get(id, {}).get("type") == "Human" else None)
    resolve("Query", "search", lambda _, info, text: search(text))
    resolve("Mutation", "moveHuman", lambda _, info, id, planet=None: move(id, planet))
    resolve("Mutation", "rateStarship", lambda _, info, rating: rate(rating))
    resolve("Human", "height", height)
    resolve("Human", "starships", lambda human, info: [starship(id) for id in human["starships"]])
    for type in ["Human", "Droid"]:
        resolve(type, "friends", lambda one, info: [character(id) for id in one["friends"]])
    for type in ["Character", "SearchResult"]:
        schema.type_map[type].resolve_type = lambda one, info, _: one["type"]
    return schema


def answer(schema, request):
    result = graphql.graphql_sync(
        schema, request["query"], variable_values=request.get("variables"), operation_name=request.get("operationName"))
    return result.formatted


def serve(schema):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, text = 200, answer(schema, request)
            except (KeyError, TypeError, ValueError) as error:
                status, text = 400, {"errors": [{"message": f"this is no GraphQL request: {error}"}]}
            body = json.dumps(text).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # The program that has started the server holds the other end: when it ends, so does this.
    sys.stdin.read()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    serve(make_schema(sys.argv[1]))
