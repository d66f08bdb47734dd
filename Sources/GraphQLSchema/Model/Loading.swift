// The entry points: from files or texts to a schema, and to operations.

public import Diagnostics

/// A text to read, with the path that diagnostics show.
public struct GraphQLSource: Sendable {
  /// The path.
  public var path: String
  /// The text; UTF-8 is expected, any bytes are allowed.
  public var bytes: [UInt8]

  /// Creates a source from bytes.
  public init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// Creates a source from a text.
  public init(path: String, text: String) {
    self.init(path: path, bytes: Array(text.utf8))
  }
}

/// What was read, and what is to be said about it.
public struct GraphQLResult<Value: Sendable>: Sendable {
  /// The value; nil if there is any error.
  public var value: Value?
  /// Errors and warnings, by file in the order given, then by position. Those about a rule of the
  /// GraphQL specification name it.
  public var diagnostics: [Diagnostic]
}

extension Schema {
  /// Reads a schema from files: GraphQL's schema language, or the JSON of an introspection query,
  /// also as the answer of a server with `data` around it. Several files make one schema.
  public static func load(files: [String]) -> GraphQLResult<Schema> {
    let sink = DiagnosticSink()
    return read(sourceFiles(at: files, sink), sink)
  }

  /// Reads a schema from texts, as ``load(files:)`` does from files.
  public static func read(_ sources: [GraphQLSource]) -> GraphQLResult<Schema> {
    read(sourceFiles(sources), DiagnosticSink())
  }

  private static func read(_ files: [SourceFile], _ sink: DiagnosticSink)
    -> GraphQLResult<Schema>
  {
    var documents: [DocumentSyntax] = []
    for file in files {
      let isJSON = file.bytes.first { ![9, 10, 13, 32, 0xEF, 0xBB, 0xBF].contains($0) } == 0x7B
      documents.append(
        isJSON
          ? IntrospectionReader.read(file, sink: sink) : Parser.parse(file, sink: sink))
    }
    reportEmpty(documents, sink)
    guard sink.errorCount == 0 else {
      return GraphQLResult(value: nil, diagnostics: sink.sorted())
    }
    let schema = SchemaBuilder.build(documents, sink: sink)
    return GraphQLResult(
      value: sink.errorCount == 0 ? schema : nil, diagnostics: sink.sorted())
  }
}

extension Operations {
  /// Reads the operations and fragments of files and checks them against a schema, all together: a
  /// fragment may be used in another file.
  public static func load(files: [String], schema: Schema) -> GraphQLResult<Operations> {
    let sink = DiagnosticSink()
    return read(sourceFiles(at: files, sink), schema, sink)
  }

  /// Reads operations and fragments from texts, as ``load(files:schema:)`` does from files.
  public static func read(_ sources: [GraphQLSource], schema: Schema) -> GraphQLResult<Operations> {
    read(sourceFiles(sources), schema, DiagnosticSink())
  }

  private static func read(_ files: [SourceFile], _ schema: Schema, _ sink: DiagnosticSink)
    -> GraphQLResult<Operations>
  {
    let documents = files.map { Parser.parse($0, sink: sink) }
    reportEmpty(documents, sink)
    guard sink.errorCount == 0 else {
      return GraphQLResult(value: nil, diagnostics: sink.sorted())
    }
    let operations = Operations(documents: documents, schema: schema)
    Validator.validate(documents, operations, sink: sink)
    return GraphQLResult(
      value: sink.errorCount == 0 ? operations : nil, diagnostics: sink.sorted())
  }
}

/// Reports files without definitions: together they have at least one.
private func reportEmpty(_ documents: [DocumentSyntax], _ sink: DiagnosticSink) {
  if sink.errorCount > 0 { return }
  let empty = documents.filter(\.definitions.isEmpty)
  for document in empty {
    let range = SourceRange(file: document.file, start: 0, end: 0)
    if empty.count == documents.count {
      sink.error("a document has at least one definition", at: range)
    } else {
      sink.warning("this file has no definitions", at: range)
    }
  }
}

private func sourceFiles(_ sources: [GraphQLSource]) -> [SourceFile] {
  sources.enumerated().map { SourceFile(path: $1.path, index: $0, bytes: $1.bytes) }
}

/// The contents of files; one that cannot be read is reported.
private func sourceFiles(at paths: [String], _ sink: DiagnosticSink) -> [SourceFile] {
  var result: [SourceFile] = []
  for (index, path) in paths.enumerated() {
    switch FileContent.read(path) {
    case .success(let bytes): result.append(SourceFile(path: path, index: index, bytes: bytes))
    case .failure(let error):
      let file = SourceFile(path: path, index: index, bytes: [])
      sink.error(
        "cannot read the file: \(error.reason)", at: SourceRange(file: file, start: 0, end: 0))
    }
  }
  return result
}
