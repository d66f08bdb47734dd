"""Tells which rules of GraphQL documents break, in the opinion of graphql-core.

Reads a JSON list of cases from standard input: {"schema": text, "document": text} for operations, and
{"schema": text} for a schema alone. Writes a JSON list of lists of rules: names of graphql-core's rules
without "Rule", "Syntax", and "Type" for schemas that break a rule without a name.
"""

import json
import sys

import graphql
from graphql.type import validate_schema
from graphql.validation import specified_rules
from graphql.validation.specified_rules import specified_sdl_rules
from graphql.validation.validate import SDLValidationContext, ValidationContext
from graphql.language import ParallelVisitor, visit
from graphql.utilities import TypeInfo, build_ast_schema
from graphql.utilities.type_info import TypeInfoVisitor

# Not in the specification of October 2021.
EXTRA = {"MaxIntrospectionDepth"}


def name(rule):
    return rule.__name__.removesuffix("Rule").replace("OnDirectives", "")


class RecordingContext:
    """A validation context for one rule, whose name it records instead of errors."""

    def __init__(self, context, rule, broken):
        self._context, self._rule, self._broken = context, rule, broken

    def __getattr__(self, attribute):
        return getattr(self._context, attribute)

    def report_error(self, error):
        self._broken.add(self._rule)


def instances(rules, context, broken):
    """The rules as visitors; each of them has a context of its own."""
    return [
        rule(RecordingContext(context, name(rule), broken)) for rule in rules if name(rule) not in EXTRA
    ]


def judge_schema(text):
    try:
        document = graphql.parse(text, no_location=True)
    except graphql.GraphQLSyntaxError:
        return None, ["Syntax"]
    if any(isinstance(d, graphql.language.ExecutableDefinitionNode) for d in document.definitions):
        return None, ["ExecutableDefinitions"]
    broken = set()
    context = SDLValidationContext(document, None, lambda error: None)
    visit(document, ParallelVisitor(instances(specified_sdl_rules, context, broken)))
    if broken:
        return None, sorted(broken)
    try:
        schema = build_ast_schema(document, assume_valid_sdl=True)
        errors = validate_schema(schema)
    except Exception:
        return None, ["Type"]
    return schema, ["Type"] if errors else []


def judge_document(schema, text):
    try:
        document = graphql.parse(text)
    except graphql.GraphQLSyntaxError:
        return ["Syntax"]
    broken = set()
    info = TypeInfo(schema)
    context = ValidationContext(schema, document, info, lambda error: None)
    visitors = instances(specified_rules, context, broken)
    visit(document, TypeInfoVisitor(info, ParallelVisitor(visitors)))
    return sorted(broken)


def main():
    if graphql.version_info < (3, 2):
        sys.exit("graphql-core 3.2 is needed, this is " + graphql.version)
    sys.setrecursionlimit(10000)
    schemas = {}
    verdicts = []
    for case in json.load(sys.stdin):
        text = case["schema"]
        if text not in schemas:
            schemas[text] = judge_schema(text)
        schema, broken = schemas[text]
        if "document" in case:
            broken = judge_document(schema, case["document"])
        verdicts.append(broken)
    json.dump(verdicts, sys.stdout)


main()
