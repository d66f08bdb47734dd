// The entry point: takes a path or a text and returns a schema or diagnostics.

/// Compiles `.fbs` schemas.
///
/// A compiler has no state; it may be used for any number of files, from any thread.
///
///     let result = SchemaCompiler(includePaths: ["Schemas"]).compile(file: "post.fbs")
///     for diagnostic in result.diagnostics { print(diagnostic.rendered()) }
///     guard let schema = result.schema else { exit(1) }
public struct SchemaCompiler: Sendable {
  /// The directories to search for included files, after that of the including file.
  public var includePaths: [String]
  /// Schemas that could be included. If one of them declares an unknown name, the error says so.
  public var neighbours: [String] = []

  /// - Parameter includePaths: Directories to search for included files, in this order, after the
  ///   directory of the including file.
  public init(includePaths: [String] = []) {
    self.includePaths = includePaths
  }

  /// Compiles the schema in a file, with everything that it includes.
  ///
  /// It only reads files. Any content yields a result; all errors, including unreadable files, are
  /// in the result's diagnostics.
  ///
  /// - Parameter path: The file, absolute or relative to the current directory. Diagnostics show it
  ///   as given.
  public func compile(file path: String) -> CompilationResult {
    let sink = DiagnosticSink()
    switch FileContent.read(path) {
    case .success(let bytes):
      return compile(bytes, path, sink)
    case .failure(let error):
      let file = SourceFile(path: path, index: 0, bytes: [])
      sink.error(
        "cannot read the file: \(error.reason)", at: SourceRange(file: file, start: 0, end: 0))
      return CompilationResult(schema: nil, diagnostics: sink.sorted())
    }
  }

  /// Compiles a schema from memory.
  ///
  /// - Parameters:
  ///   - source: The text; UTF-8 is expected, any bytes are allowed.
  ///   - path: The name for diagnostics; included files are searched first in its directory.
  public func compile(source: [UInt8], path: String) -> CompilationResult {
    compile(source, path, DiagnosticSink())
  }

  private func compile(_ bytes: [UInt8], _ path: String, _ sink: DiagnosticSink)
    -> CompilationResult
  {
    var loader = SourceLoader(includePaths: includePaths, sink: sink)
    loader.load(bytes, path: path)
    let resolver = Resolver(
      inputs: loader.inputs, textOrder: loader.textOrder, lacksIncludes: loader.lacksIncludes,
      neighbours: Neighbours(files: neighbours, includePaths: includePaths), sink: sink)
    let schema = resolver.resolve()
    var result = CompilationResult(
      schema: sink.errorCount == 0 ? schema : nil, diagnostics: sink.sorted())
    result.sources = loader.inputs.map(\.source)
    return result
  }
}

/// The result of a compilation.
public struct CompilationResult: Sendable {
  /// The schema; nil if there is any error.
  public var schema: Schema?
  /// Errors and warnings, by file in order of first inclusion, then by position.
  public var diagnostics: [Diagnostic]
  /// The texts of the files, in the order of the schema's files.
  var sources: [SourceFile] = []

  /// Creates a result from its parts.
  public init(schema: Schema?, diagnostics: [Diagnostic]) {
    self.schema = schema
    self.diagnostics = diagnostics
  }

  /// Creates a diagnostic about a position in the compiled texts, in the compiler's own form: with
  /// the line, and with the name or string at that position underlined.
  ///
  /// - Parameters:
  ///   - severity: The severity.
  ///   - message: One line without a full stop.
  ///   - position: A position from the schema. If it is in another file, the line is not shown.
  ///   - notes: Notes that help to understand it.
  public func diagnostic(
    _ severity: Diagnostic.Severity, _ message: String, at position: SourcePosition,
    notes: [Diagnostic] = []
  ) -> Diagnostic {
    guard let source = sources.first(where: { $0.path == position.file }) else {
      return Diagnostic(severity: severity, message: message, position: position, notes: notes)
    }
    let offset = source.offset(of: position)
    return Diagnostic(
      severity: severity, message: message, position: position,
      length: source.wordLength(at: offset),
      sourceLine: source.lineText(at: offset), notes: notes)
  }
}
