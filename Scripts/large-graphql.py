#!/usr/bin/env python3
"""Writes a schema of the size of a large public API, and operations for it.

    Scripts/large-graphql.py DIR [TYPES [OPERATIONS [ENTITIES]]]

DIR gets schema.graphqls with TYPES types (2,000 if it is left out), operations.graphql with OPERATIONS
operations (200), and options.txt with the options for dflatc, which name ENTITIES entities (5). The texts
depend on the numbers alone.

The types are what such services have: objects with connections, edges and payloads, interfaces, unions,
enums, input objects, and a description for almost everything.
"""
import os
import random
import sys

WORDS = (
    "access action agent alert asset audit badge batch billing board branch budget bundle campaign card "
    "cart catalog channel check city claim client cloud comment commit company contact contract country "
    "coupon course credit customer dataset delivery deploy device digest document domain draft entry event "
    "export feature feed field file filter folder form forum gateway goal grant group history host image "
    "import incident index invoice issue item job key label language lead ledger lesson level license limit "
    "link list location log mail market member menu merge message metric milestone model module note notice "
    "offer option order package page panel parcel payment period person phone plan player policy post price "
    "product profile project queue quota record region release rental report request result review role "
    "room route rule run sample scope score search section server service session setting share ship site "
    "skill slot source sprint stage state status step stock store stream study subject support survey table "
    "tag task team template tenant term test theme thread ticket topic track trade transfer trial trigger "
    "unit update user value vendor version video view visit vote wallet ware week workflow"
).split()


def pascal(words):
    return "".join(word.capitalize() for word in words)


def camel(words):
    return words[0] + pascal(words[1:])


class Service:
    def __init__(self, count):
        self.random = random.Random(2021)
        self.text = []
        self.names = set()
        # Objects by name, with (field, type, kind of type).
        self.objects = {}
        self.enums = []
        # Of the types, 45 % are objects of their own, 10 % enums, 15 % input objects, and the rest what objects need.
        self.nodes = [self.name() for _ in range(count * 40 // 100)]
        self.build(count)

    def name(self, suffix=""):
        while True:
            words = self.random.sample(WORDS, self.random.choice([1, 2, 2, 2, 3]))
            name = pascal(words) + suffix
            if name not in self.names:
                self.names.add(name)
                return name

    def describe(self, indent=""):
        words = self.random.choices(WORDS, k=self.random.randint(6, 14))
        self.text.append(f'{indent}"{" ".join(words).capitalize()}."')

    def build(self, count):
        self.text += [
            "scalar DateTime", "scalar URI", "scalar JSON", "",
            "interface Node { id: ID! }",
            "interface Named { name: String!  slug: String! }", "",
            "type PageInfo { endCursor: String  hasNextPage: Boolean!  startCursor: String }", "",
        ]
        made = 6
        for _ in range(count * 10 // 100):
            self.enum()
            made += 1
        for name in self.nodes:
            self.object(name)
            made += 1
        # A connection and its edge for a part of the objects.
        self.connected = self.random.sample(self.nodes, count * 16 // 100)
        for name in self.connected:
            self.text += [
                f"type {name}Connection {{ edges: [{name}Edge]  nodes: [{name}]  pageInfo: PageInfo!  totalCount: Int! }}",
                f"type {name}Edge {{ cursor: String!  node: {name} }}", "",
            ]
            made += 2
        self.unions = []
        for _ in range(count * 2 // 100):
            name = self.name("Union")
            members = self.random.sample(self.nodes, self.random.randint(2, 8))
            self.text.append(f"union {name} = {' | '.join(members)}")
            self.unions.append((name, members))
            made += 1
        inputs = []
        # Mutations, their input objects and payloads, until all types are there.
        mutations = []
        while made < count - 4:
            name = self.random.choice(self.nodes)
            verb = self.random.choice(["Create", "Update", "Delete", "Move", "Close", "Mark", "Add"])
            if verb + name + "Input" in self.names:
                continue
            self.names.add(verb + name + "Input")
            self.input(verb + name + "Input", inputs)
            inputs.append(verb + name + "Input")
            self.text += [f"type {verb}{name}Payload {{ clientMutationId: String  {name[0].lower() + name[1:]}: {name} }}", ""]
            mutations.append((verb, name))
            made += 2
        self.mutations = mutations
        self.text.append("type Query {")
        self.text.append("  node(id: ID!): Node")
        for name in self.nodes:
            field = name[0].lower() + name[1:]
            self.describe("  ")
            self.text.append(f"  {field}(id: ID!): {name}")
        for name in self.connected:
            field = name[0].lower() + name[1:]
            self.text.append(f"  all{name}(first: Int = 20, after: String): {name}Connection!")
        for name, _ in self.unions:
            self.text.append(f"  find{name}(query: String!): [{name}!]!")
        self.text += ["}", "", "type Mutation {"]
        for verb, name in mutations:
            self.describe("  ")
            self.text.append(f"  {verb.lower()}{name}(input: {verb}{name}Input!): {verb}{name}Payload")
        self.text += ["}", "", "type Subscription { changed(id: ID!): Node }"]

    def enum(self):
        name = self.name("Kind")
        self.enums.append(name)
        self.describe()
        self.text.append(f"enum {name} {{")
        for word in self.random.sample(WORDS, self.random.randint(3, 12)):
            self.describe("  ")
            self.text.append(f"  {word.upper()}")
        self.text += ["}", ""]

    def object(self, name):
        chance = self.random.random
        fields = [("id", "ID!", "scalar")]
        interfaces = ["Node"]
        if chance() < 0.5:
            interfaces.append("Named")
            fields += [("name", "String!", "scalar"), ("slug", "String!", "scalar")]
        seen = {field for field, _, _ in fields}
        for _ in range(self.random.randint(6, 26)):
            field = camel(self.random.sample(WORDS, self.random.choice([1, 2, 2, 3])))
            if field in seen:
                continue
            seen.add(field)
            draw = chance()
            if draw < 0.62:
                kind = "scalar"
                type = self.random.choice(
                    ["String", "String!", "Int", "Int!", "Boolean!", "DateTime!", "URI", "Float", "[String!]!"])
            elif draw < 0.74:
                kind, type = "enum", self.random.choice(self.enums) + self.random.choice(["", "!"])
            else:
                kind, target = "object", self.random.choice(self.nodes)
                type = self.random.choice([target, target, target + "!", f"[{target}!]!", f"[{target}]"])
            fields.append((field, type, kind))
        self.objects[name] = fields
        self.describe()
        self.text.append(f"type {name} implements {' & '.join(interfaces)} {{")
        for field, type, _ in fields:
            if chance() < 0.9:
                self.describe("  ")
            arguments = "(first: Int, after: String)" if type.startswith("[") and chance() < 0.3 else ""
            deprecated = ' @deprecated(reason: "Use another one.")' if chance() < 0.03 else ""
            self.text.append(f"  {field}{arguments}: {type}{deprecated}")
        self.text += ["}", ""]

    def input(self, name, others):
        self.describe()
        self.text.append(f"input {name} {{")
        self.text.append("  clientMutationId: String")
        seen = set()
        for _ in range(self.random.randint(3, 12)):
            field = camel(self.random.sample(WORDS, 2))
            if field in seen:
                continue
            seen.add(field)
            types = ["String!", "ID", "Int = 3", "Boolean! = false", "[ID!]", self.random.choice(self.enums)]
            if others:
                types.append(self.random.choice(others))
            self.text.append(f"  {field}: {self.random.choice(types)}")
        self.text += ["}", ""]

    # Operations

    def selection(self, name, depth, indent):
        lines = [f"{indent}id"]
        fields = self.objects[name][1:]
        for field, type, kind in self.random.sample(fields, min(len(fields), self.random.randint(4, 12))):
            if kind != "object":
                lines.append(f"{indent}{field}")
            elif depth > 0:
                lines.append(f"{indent}{field} {{")
                lines += self.selection(type.strip("[]!"), depth - 1, indent + "  ")
                lines.append(f"{indent}}}")
        return lines

    def operations(self, count, entities):
        text = []
        self.entities = self.random.sample(self.connected, entities)
        for number in range(count):
            draw = self.random.random()
            if draw < 0.45:
                name = self.random.choice(self.nodes if number % 4 else self.entities)
                text += [
                    f"query Get{name}{number}($id: ID!) {{", f"  {name[0].lower() + name[1:]}(id: $id) {{",
                    *self.selection(name, 2, "    "), "  }", "}", "",
                ]
            elif draw < 0.7:
                name = self.random.choice(self.connected)
                text += [
                    f"query All{name}{number}($after: String) {{", f"  all{name}(first: 50, after: $after) {{",
                    "    pageInfo { hasNextPage endCursor }", "    edges {", "      cursor", "      node {",
                    f"        ...{name}Part{number}", "      }", "    }", "  }", "}", "",
                    f"fragment {name}Part{number} on {name} {{", *self.selection(name, 2, "  "), "}", "",
                ]
            elif draw < 0.85:
                union, members = self.random.choice(self.unions)
                text += [f"query Find{number}($query: String!) {{", f"  find{union}(query: $query) {{"]
                for member in members:
                    # One key of a response has one type: aliases tell the fields of the members apart.
                    lines = self.selection(member, 0, "      ")
                    lines = [lines[0]] + [
                        f"      {member[0].lower() + member[1:]}_{line.strip()}: {line.strip()}" for line in lines[1:]
                    ]
                    text += [f"    ... on {member} {{", *lines, "    }"]
                text += ["  }", "}", ""]
            else:
                verb, name = self.random.choice(self.mutations)
                text += [
                    f"mutation {verb}{name}{number}($input: {verb}{name}Input!) {{",
                    f"  {verb.lower()}{name}(input: $input) {{", f"    {name[0].lower() + name[1:]} {{",
                    *self.selection(name, 1, "      "), "    }", "  }", "}", "",
                ]
        return text


def main():
    folder = sys.argv[1]
    types = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    operations = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    entities = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    service = Service(types)
    os.makedirs(folder, exist_ok=True)
    documents = service.operations(operations, entities)
    with open(os.path.join(folder, "schema.graphqls"), "w") as file:
        file.write("\n".join(service.text) + "\n")
    with open(os.path.join(folder, "operations.graphql"), "w") as file:
        file.write("\n".join(documents))
    with open(os.path.join(folder, "options.txt"), "w") as file:
        file.write(" ".join(f"--entity {name}" for name in service.entities) + " --primary-key id\n")


if __name__ == "__main__":
    main()
