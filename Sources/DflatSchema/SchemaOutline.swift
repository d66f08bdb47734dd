// SchemaOutline: the declarations of a file, found without reading its includes.
//
// It is for checks over many files: which types several of them declare, which namespaces they use,
// and where their objects are stored. Errors in a file are reported when it is compiled, not here.

/// The types that one schema file declares.
public struct SchemaOutline: Sendable {
  /// A declared type.
  public struct Declaration: Sendable {
    /// The name with its namespace.
    public let name: QualifiedName
    /// The name in Swift, without namespace and back-ticks.
    public let swiftName: String
    /// The SQLite table for its objects, if it is the root of its file.
    public let tableName: String
    /// The position of the name.
    public var position: SourcePosition { range.position }
    let range: SourceRange
  }

  /// The path as it was opened.
  public let path: String
  /// The tables, structs, enums and unions, in source order.
  public let declarations: [Declaration]
  /// The table that `root_type` names, if the file declares it.
  public let root: Declaration?

  /// Reads a file; nil if it cannot be read.
  public init?(file path: String) {
    guard case .success(let bytes) = FileContent.read(path) else { return nil }
    self.path = path
    let source = SourceFile(path: path, index: 0, bytes: bytes)
    var namespace: [String] = []
    var declarations: [Declaration] = []
    var root: Declaration?
    for declaration in Parser.parse(source, sink: DiagnosticSink()).declarations {
      let name: NameSyntax
      let attributes: [AttributeSyntax]
      switch declaration {
      case .namespace(let parts):
        namespace = parts
        continue
      case .record(let record): (name, attributes) = (record.name, record.attributes)
      case .enumeration(let enumeration):
        (name, attributes) = (enumeration.name, enumeration.attributes)
      case .union(let union): (name, attributes) = (union.name, union.attributes)
      case .rootType(let path):
        let names = [path.parts, namespace + path.parts].map {
          QualifiedName(namespace: Array($0.dropLast()), name: $0.last ?? "")
        }
        root = names.lazy.compactMap { name in declarations.first { $0.name == name } }.first
        continue
      default: continue
      }
      func value(of attribute: String) -> String? {
        attributes.last { $0.name.text == attribute }?.value?.text
      }
      let full = QualifiedName(namespace: namespace, name: name.text)
      declarations.append(
        Declaration(
          name: full, swiftName: value(of: "swift_name") ?? typeName(full),
          tableName: full.tableName(version: value(of: "v")), range: name.range))
    }
    self.declarations = declarations
    self.root = root
  }

  /// Every namespace that contains a type of the file, with the enclosing ones.
  public var namespaces: Set<[String]> {
    var result: Set<[String]> = []
    for name in declarations.map(\.name) {
      for depth in name.namespace.indices { result.insert(Array(name.namespace[...depth])) }
    }
    return result
  }

  /// Creates a diagnostic about a declaration, with its line.
  ///
  /// - Parameters:
  ///   - severity: The severity.
  ///   - message: One line without a full stop.
  ///   - declaration: One of the file's.
  ///   - notes: Notes that help to understand it.
  public static func diagnostic(
    _ severity: Diagnostic.Severity, _ message: String, at declaration: Declaration,
    notes: [Diagnostic] = []
  ) -> Diagnostic {
    declaration.range.diagnostic(severity, message, notes: notes)
  }
}
