// The model of a set of .fbs files, after parsing and resolving.
//
// The model is plain data. Invariants:
//
//  - Every type that a field, union or array refers to is in `Schema.types`.
//  - Slots, vtable offsets, struct offsets, sizes and alignments are final: no other code computes
//    them again.
//  - Defaults are literals of the field's own type, checked and in range.
//
// The order is that of the source wherever a user can see it.

/// A compiled schema: the compiled file and everything it includes.
public struct Schema: Sendable {
  /// The files: the compiled one first, then the included ones in order of first inclusion.
  public var files: [SchemaFile]
  /// Every type of every file.
  public var types: [QualifiedName: TypeDefinition]

  /// Creates a schema from its files and types.
  public init(files: [SchemaFile] = [], types: [QualifiedName: TypeDefinition] = [:]) {
    self.files = files
    self.types = types
  }
}

/// The declarations of one file.
public struct SchemaFile: Sendable {
  /// The path as it was opened.
  public var path: String
  /// The types declared in this file (not in its includes), in source order.
  public var types: [QualifiedName]
  /// The table named by this file's `root_type`, if it is declared in this file.
  public var root: QualifiedName?
  /// The four bytes of `file_identifier`, if it is declared.
  public var fileIdentifier: String?
  /// The extension from `file_extension`.
  public var fileExtension: String?
  /// The position of the table's name in `root_type`.
  public var rootPosition: SourcePosition?
  /// The position of the value of `file_identifier`.
  public var fileIdentifierPosition: SourcePosition?
  /// The position of the value of `file_extension`.
  public var fileExtensionPosition: SourcePosition?

  /// Creates a file from its parts.
  public init(
    path: String, types: [QualifiedName] = [], root: QualifiedName? = nil,
    fileIdentifier: String? = nil, fileExtension: String? = nil
  ) {
    self.path = path
    self.types = types
    self.root = root
    self.fileIdentifier = fileIdentifier
    self.fileExtension = fileExtension
  }
}

/// A type's name with its namespace.
public struct QualifiedName: Hashable, Sendable, CustomStringConvertible {
  /// The namespace's components; empty for the global one.
  public var namespace: [String]
  /// The name within the namespace.
  public var name: String

  /// Creates a name from its parts.
  public init(namespace: [String] = [], name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The dotted form used in schemas.
  public var description: String { (namespace + [name]).joined(separator: ".") }
}
