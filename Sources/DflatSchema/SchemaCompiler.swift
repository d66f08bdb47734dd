// The way in: a path or a text in, a schema or diagnostics out.

/// Compiles `.fbs` schemas.
///
/// A compiler holds no state; one may be used for any number of files, from any thread.
///
///     let result = SchemaCompiler(includePaths: ["Schemas"]).compile(file: "post.fbs")
///     for diagnostic in result.diagnostics { print(diagnostic.rendered()) }
///     guard let schema = result.schema else { exit(1) }
public struct SchemaCompiler: Sendable {
  /// The directories in which included files are searched, after that of the including file.
  public var includePaths: [String]
  /// Schemas that could be included. Where a name is unknown that one of them declares, the error says so.
  public var neighbours: [String] = []

  /// - Parameter includePaths: Directories to search for included files, in this order, after the directory of the
  ///   including file.
  public init(includePaths: [String] = []) {
    self.includePaths = includePaths
  }

  /// Compiles the schema in a file, with everything that it includes.
  ///
  /// Reads files and does nothing else. Any content gives a result: what is wrong with it, a file that cannot be read
  /// included, is in the result's diagnostics.
  ///
  /// - Parameter path: The file, absolute or relative to the current directory. Diagnostics show it as given.
  public func compile(file path: String) -> CompilationResult {
    let sink = DiagnosticSink()
    switch SourceLoader.read(path) {
    case .success(let bytes):
      return compile(bytes, path, sink)
    case .failure(let error):
      let file = SourceFile(path: path, index: 0, bytes: [])
      sink.error(
        "cannot read the file: \(error.reason)", at: SourceRange(file: file, start: 0, end: 0))
      return CompilationResult(schema: nil, diagnostics: sink.sorted())
    }
  }

  /// Compiles a schema that is in memory.
  ///
  /// - Parameters:
  ///   - source: The text; UTF-8 is expected, any bytes are allowed.
  ///   - path: The name for diagnostics; its directory is where included files are searched first.
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

/// What a compilation gives.
public struct CompilationResult: Sendable {
  /// The schema; nil if there is any error.
  public var schema: Schema?
  /// Errors and warnings, by file in order of first inclusion, then by place.
  public var diagnostics: [Diagnostic]
  /// The texts that were read, in the order of the schema's files.
  var sources: [SourceFile] = []

  /// Makes a result from its parts.
  public init(schema: Schema?, diagnostics: [Diagnostic]) {
    self.schema = schema
    self.diagnostics = diagnostics
  }

  /// Says something about a place in the texts that were compiled, as the compiler itself does: with the line, and the
  /// name or string at that place underlined.
  ///
  /// - Parameters:
  ///   - severity: How bad it is.
  ///   - message: One line without a full stop.
  ///   - position: A place that the schema gives. For one in another file the line is not shown.
  ///   - notes: What helps to understand it.
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
