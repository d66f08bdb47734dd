"""Answers operations over a small data set, with graphql-core.

Standard input has a list of {"name", "query", "variables"}; standard output gets an object from names to responses.
"""
import json
import sys
from graphql import build_schema, graphql_sync

characters = {
    "1000": {"type": "Human", "id": "1000", "name": "Luke Skywalker", "friends": ["1002", "1003", "2000", "2001"],
             "appearsIn": ["NEW_HOPE", "EMPIRE", "JEDI"], "bestFriend": "2001", "born": "19 BBY", "height": 1.72,
             "mass": 77.0, "home": {"name": "Tatooine", "climate": "arid", "suns": 2, "place": {"number": 4, "years": 0.83}},
             "ships": ["3001"], "default": True, "rating": 9, "is_jedi": True, "notes": "a farm boy"},
    "1002": {"type": "Human", "id": "1002", "name": "Han Solo", "friends": ["1000", "1003", "2001"],
             "appearsIn": ["NEW_HOPE", "EMPIRE", "JEDI"], "bestFriend": "1000", "born": None, "height": 1.8, "mass": None,
             "home": {"name": "Corellia", "climate": None, "suns": 1, "place": {"name": "Core", "code": "C"}},
             "ships": ["3000"], "default": None, "rating": None, "is_jedi": False, "notes": None},
    "1003": {"type": "Human", "id": "1003", "name": "Leia Organa", "friends": ["1000", "1002", "2000", "2001"],
             "appearsIn": ["NEW_HOPE", "EMPIRE", "JEDI"], "bestFriend": None, "born": "19 BBY", "height": 1.5, "mass": 49.0,
             "home": None, "ships": None, "default": False, "rating": 8, "is_jedi": False, "notes": ""},
    "2000": {"type": "Droid", "id": "2000", "name": "C-3PO", "friends": ["1000", None, "1003", "2001"],
             "appearsIn": ["NEW_HOPE", "EMPIRE", "JEDI"], "bestFriend": "2001", "born": None,
             "primaryFunction": "Protocol", "owner": "1000"},
    "2001": {"type": "Droid", "id": "2001", "name": "R2-D2", "friends": None,
             "appearsIn": ["NEW_HOPE", "EMPIRE", "JEDI"], "bestFriend": "2000", "born": "33 BBY",
             "primaryFunction": "Astromech", "owner": "1000"},
}
ships = {
    "3000": {"type": "Starship", "id": "3000", "name": "Millennium Falcon", "coordinates": [[1.0, 2.5], []],
             "length": 34.37, "pilots": ["1002"]},
    "3001": {"type": "Starship", "id": "3001", "name": "X-Wing", "coordinates": None, "length": 12.5, "pilots": ["1000"]},
}


def with_type(source, *_):
    return source["type"] if "type" in source else "Orbit" if "number" in source else "Region"


def look_up(keys):
    return None if keys is None else [characters.get(key) for key in keys]


def page(source, _, first=10, after=None):
    friends = look_up(source["friends"])
    return {"totalCount": len(friends or []),
            "edges": None if friends is None else [{"cursor": str(i), "node": n} for i, n in enumerate(friends[:first])]}


def run(schema_file):
    schema = build_schema(open(schema_file).read())
    for name in ["Character", "Owner", "Place", "SearchResult"]:
        schema.type_map[name].resolve_type = with_type

    def field(type_name, field_name, resolve):
        schema.type_map[type_name].fields[field_name].resolve = resolve

    for name in ["Human", "Droid"]:
        field(name, "friends", lambda s, _: look_up(s["friends"]))
        field(name, "bestFriend", lambda s, _: characters.get(s["bestFriend"]))
        field(name, "friendsConnection", page)
    field("Human", "height", lambda s, _, unit="METER": s["height"] * (3.28 if unit == "FOOT" else 1))
    field("Human", "homePlanet", lambda s, _: s["home"])
    field("Human", "starships", lambda s, _: None if s["ships"] is None else [ships[k] for k in s["ships"]])
    field("Droid", "owner", lambda s, _: characters.get(s["owner"]))
    field("Starship", "pilots", lambda s, _: look_up(s["pilots"]))
    field("Starship", "starships", lambda s, _: [])
    field("Query", "hero", lambda _, __, episode=None: characters["1000" if episode == "EMPIRE" else "2001"])
    field("Query", "heroes", lambda *_: list(characters.values()))
    field("Query", "human", lambda _, __, id: characters.get(id))
    field("Query", "character", lambda _, __, id: characters.get(id))
    field("Query", "search", lambda _, __, text=None: [characters["1000"], characters["2000"], ships["3000"]])
    field("Query", "ships", lambda *_: [ships["3000"], None, ships["3001"]])
    field("Query", "owners", lambda *_: [characters["1000"], ships["3000"]])
    field("Mutation", "createReview", lambda _, __, review, episode=None:
          {"stars": review["stars"], "commentary": json.dumps([episode, review], sort_keys=True)})
    field("Mutation", "rename", lambda _, __, id, name: dict(characters[id], name=name))

    answers = {}
    for request in json.load(sys.stdin):
        result = graphql_sync(schema, request["query"], variable_values=request["variables"],
                              operation_name=request.get("operationName"))
        answers[request["name"]] = result.formatted
    json.dump(answers, sys.stdout)


run(sys.argv[1])
