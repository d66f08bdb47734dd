// A schema is the same from its text and from the answer of a server that has it.

import GraphQLSchema
import Testing

@Suite("GraphQL: introspection")
struct IntrospectionTests {
  @Test("graphql-core's answers give the schemas that it was made of")
  func roundTrip() throws {
    let files = ["chapter2", "chapter5", "starwars"].map { $0 + ".schema" }
    var texts = try files.map(Corpus.text)
    texts.append(
      """
      "What is described" schema @mark { query: Q subscription: S }
      type Q implements I & J { i(a: [[In!]!] = [[{x: 1, s: "\\"\\n"}]], e: E = Y): U  j: [I!]! @deprecated(reason: "no") }
      interface I { i(a: [[In!]!], e: E = Y): U }
      interface J implements I { i(a: [[In!]!], e: E = Y): U  j: [I!]! }
      union U = Q | S
      type S { date: Date }
      enum E { X @deprecated Y }
      input In { x: Int! = 3  s: String  in: [In!] }
      "A day" scalar Date @specifiedBy(url: "https://example.org")
      directive @mark(n: Float = 1.5) repeatable on SCHEMA | FIELD
      """)
    for (text, answer) in zip(texts, try Judge.introspection(of: texts)) {
      let (read, expected) = (summary(of: try schema(answer)), summary(of: try schema(text)))
      #expect(read.difference(from: expected).isEmpty, "\(read.difference(from: expected))")
    }
  }

  /// Everything in a schema but the order of types, which graphql-core changes, and the directives
  /// of the schema itself.
  private func summary(of schema: Schema) -> [String] {
    var lines = schema.types.map { type in
      "\(type.kind) \(type.name) \(type.description ?? "") \(type.specifiedByURL ?? "") "
        + "\(type.interfaces) \(type.isAbstract ? schema.possibleTypes(of: type).map(\.name).sorted() : []) "
        + type.fields.map {
          "\($0.name)(\(inputs($0.arguments))): \($0.type) \($0.deprecationReason ?? "")"
        }.joined(separator: "; ")
        + inputs(type.inputFields)
        + type.values.map { "\($0.name) \($0.deprecationReason ?? "")" }.joined(separator: "; ")
    }
    lines += schema.directives.map {
      "@\($0.name)(\(inputs($0.arguments))) \($0.isRepeatable) \($0.locations)"
    }
    let roots = OperationKind.allCases.map { schema.rootType(of: $0)?.name ?? "-" }
    // Descriptions of the schema and of built-in definitions are the server's own.
    let builtIn = ["Int", "Float", "String", "Boolean", "ID"]
    return roots
      + lines.filter { line in
        !line.contains(" __") && !builtIn.contains { line.hasPrefix("scalar \($0) ") }
          && !line.hasPrefix("@oneOf")
      }.sorted()
  }

  private func inputs(_ values: [InputValue]) -> String {
    values.map {
      "\($0.name): \($0.type) = \($0.defaultValue?.canonicalText ?? "") \($0.deprecationReason ?? "")"
    }.joined(separator: ", ")
  }
}
