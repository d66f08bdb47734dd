"""Tells which rules of GraphQL documents break, in the opinion of graphql-core.

Reads a JSON list of cases from standard input: {"schema": text, "document": text} for operations, and
{"schema": text} for a schema alone. With the argument "introspection" it writes the answers of the
schemas to an introspection query instead. Otherwise it writes a JSON list of lists of rules: names of graphql-core's rules
without "Rule", "Syntax", and "Type" for schemas that break a rule without a name. It is null where
graphql-core itself fails: it evaluates the directives @skip and @include of a subscription's root, and
its comparison of fields does not end on some cycles of fragments.
"""

import inspect
import json
import sys

import graphql
from graphql.type import validate_schema
from graphql.validation import specified_rules
from graphql.validation.specified_rules import specified_sdl_rules
from graphql.validation.validate import SDLValidationContext, ValidationContext
from graphql.language import ParallelVisitor, visit
from graphql.validation.rules import overlapping_fields_can_be_merged as overlapping
from graphql.utilities import TypeInfo, build_ast_schema
from graphql.utilities.type_info import TypeInfoVisitor

# Not in the specification of October 2021.
EXTRA = {"MaxIntrospectionDepth"}


def compare_fields_with_fragment(
    context, conflicts, cache, pairs, are_mutually_exclusive, field_map, fragment_name
):
    """Collects the conflicts of fields with a fragment and those that it spreads.

    It takes the place of the function of some versions of graphql-core, which remember that two fragments
    were compared but not with which fields, and therefore miss conflicts of other fields with them.
    """
    waiting = [fragment_name]
    while waiting:
        name = waiting.pop()
        key = (id(pairs), id(field_map), name, are_mutually_exclusive)
        fragment = context.get_fragment(name)
        if key in COMPARED or not fragment:
            continue
        COMPARED.add(key)
        KEPT.append((pairs, field_map))
        other_map, names = overlapping.get_referenced_fields_and_fragment_names(context, cache, fragment)
        if other_map is not field_map:
            overlapping.collect_conflicts_between(
                context, conflicts, cache, pairs, are_mutually_exclusive, field_map, other_map
            )
            waiting.extend(names)


# Keys contain the identities of objects, which must therefore stay alive.
COMPARED, KEPT = set(), []
if len(inspect.signature(overlapping.collect_conflicts_between_fields_and_fragment).parameters) == 7:
    overlapping.collect_conflicts_between_fields_and_fragment = compare_fields_with_fragment


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
    try:
        visit(document, TypeInfoVisitor(info, ParallelVisitor(visitors)))
    except (graphql.GraphQLError, RecursionError):
        return None
    return sorted(broken)


def main():
    if graphql.version_info < (3, 2):
        sys.exit("graphql-core 3.2 is needed, this is " + graphql.version)
    schemas = {}
    verdicts = []
    cases = json.load(sys.stdin)
    if sys.argv[1:] == ["introspection"]:
        answers = [graphql.introspection_from_schema(judge_schema(case["schema"])[0]) for case in cases]
        json.dump([json.dumps({"data": answer}) for answer in answers], sys.stdout)
        return
    for case in cases:
        text = case["schema"]
        if text not in schemas:
            schemas[text] = judge_schema(text)
        schema, broken = schemas[text]
        if "document" in case:
            broken = judge_document(schema, case["document"])
        verdicts.append(broken)
    json.dump(verdicts, sys.stdout)


main()
