// Shared by the tests of the schema compiler: short ways to compile a text and to examine the
// result.

import DflatSchema
import Testing

/// The result of compiling `text` as `test.fbs`.
func compile(_ text: String) -> CompilationResult {
  SchemaCompiler().compile(source: Array(text.utf8), path: "test.fbs")
}

/// The schema of a text that must be valid.
func schema(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Schema {
  let result = compile(text)
  let errors = result.diagnostics.map { $0.rendered() }.joined(separator: "\n")
  return try #require(result.schema, "\(errors)", sourceLocation: sourceLocation)
}

/// The messages of a text's errors, as `line:column: message`.
func errors(_ text: String) -> [String] {
  compile(text).diagnostics.filter { $0.severity == .error }.map { diagnostic in
    guard let position = diagnostic.position else { return diagnostic.message }
    return "\(position.line):\(position.column): \(diagnostic.message)"
  }
}

extension Schema {
  /// The table called `name` in the empty namespace or the one given with dots.
  func table(_ name: String) throws -> TableDefinition {
    guard case .table(let table) = types[QualifiedName(name)] else { throw Missing(name: name) }
    return table
  }

  func structure(_ name: String) throws -> StructDefinition {
    guard case .structure(let structure) = types[QualifiedName(name)] else {
      throw Missing(name: name)
    }
    return structure
  }

  func enumeration(_ name: String) throws -> EnumDefinition {
    guard case .enumeration(let value) = types[QualifiedName(name)] else {
      throw Missing(name: name)
    }
    return value
  }

  func union(_ name: String) throws -> UnionDefinition {
    guard case .union(let union) = types[QualifiedName(name)] else { throw Missing(name: name) }
    return union
  }
}

/// A test requested a type that the schema lacks.
struct Missing: Error {
  var name: String
}

extension QualifiedName {
  /// A name from its dotted form.
  init(_ dotted: String) {
    let parts = dotted.split(separator: ".").map(String.init)
    self.init(namespace: Array(parts.dropLast()), name: parts[parts.count - 1])
  }
}

extension TableDefinition {
  /// The default of the field called `name`.
  func defaultValue(_ name: String) -> DefaultValue? {
    fields.first { $0.name == name }?.defaultValue
  }

  /// Field names with their vtable offsets.
  var offsets: [String: Int] {
    Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.offset) })
  }
}
