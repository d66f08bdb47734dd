// Shared by the tests of the GraphQL front end: short ways to read texts and to say what was
// reported.

import Foundation
import GraphQLSchema
import Testing

/// Whether long random runs were requested: `DFLAT_LONG=1 swift test`.
let isLongRun = ProcessInfo.processInfo.environment["DFLAT_LONG"] == "1"

/// The result of reading a schema from one text.
func readSchema(_ text: String) -> GraphQLResult<Schema> {
  Schema.read([GraphQLSource(path: "schema.graphqls", text: text)])
}

/// The schema in a text that must be valid.
func schema(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Schema {
  let result = readSchema(text)
  return try #require(
    result.value, "\(rendered(result.diagnostics))", sourceLocation: sourceLocation)
}

/// The operations in a text that must be valid.
func operations(
  _ text: String, _ schema: Schema, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Operations {
  let result = Operations.read([GraphQLSource(path: "test.graphql", text: text)], schema: schema)
  return try #require(
    result.value, "\(rendered(result.diagnostics))", sourceLocation: sourceLocation)
}

/// Everything that is said about operations.
func said(_ text: String, _ schema: Schema) -> String {
  rendered(
    Operations.read([GraphQLSource(path: "test.graphql", text: text)], schema: schema).diagnostics)
}

/// Everything that is said about a schema.
func said(_ text: String) -> String { rendered(readSchema(text).diagnostics) }

func rendered(_ diagnostics: [Diagnostic]) -> String {
  diagnostics.map { $0.rendered() }.joined(separator: "\n")
}

/// A schema in which anything can be selected of anything.
let plainSchema = "type Query { a(x: JSON, y: [[Int!]]!): Query  b: [Query!]! } scalar JSON"

extension Operations {
  /// The value of the argument `x` of the first field.
  var firstValue: ValueSyntax.Kind? {
    guard case .field(let field) = operations[0].selectionSet.selections[0] else { return nil }
    return field.arguments.first?.value.kind
  }
}
