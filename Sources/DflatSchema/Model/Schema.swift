// What a set of .fbs files means, after parsing and resolving.
//
// The model is plain data. It keeps true:
//
//  - every type that a field, union or array mentions is in `Schema.types`;
//  - slots, vtable offsets, struct offsets, sizes and alignments are final: nobody downstream computes them again;
//  - defaults are literals of the field's own type, already checked and in range.
//
// Order is that of the source wherever a user can see it.

/// A compiled schema: the file that was asked for and everything it includes.
public struct Schema: Sendable {
  /// The files, the one that was asked for first, then the included ones in order of first inclusion.
  public var files: [SchemaFile]
  /// Every type of every file.
  public var types: [QualifiedName: TypeDefinition]

  /// Makes a schema from its files and types.
  public init(files: [SchemaFile] = [], types: [QualifiedName: TypeDefinition] = [:]) {
    self.files = files
    self.types = types
  }
}

/// What one file declares.
public struct SchemaFile: Sendable {
  /// The path as it was opened.
  public var path: String
  /// The types declared in this file (not in its includes), in source order.
  public var types: [QualifiedName]
  /// The table named by this file's `root_type`, if the table is declared in this very file.
  public var root: QualifiedName?
  /// The four bytes of `file_identifier`, if it is declared.
  public var fileIdentifier: String?
  /// What `file_extension` declares.
  public var fileExtension: String?
  /// Where `root_type` names its table.
  public var rootPosition: SourcePosition?
  /// Where the value of `file_identifier` stands.
  public var fileIdentifierPosition: SourcePosition?
  /// Where the value of `file_extension` stands.
  public var fileExtensionPosition: SourcePosition?

  /// Makes a file from its parts.
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

  /// Makes a name from its parts.
  public init(namespace: [String] = [], name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The dotted form that schemas use.
  public var description: String { (namespace + [name]).joined(separator: ".") }
}

/// A place in a source file; lines and columns count from 1, columns in bytes.
public struct SourcePosition: Hashable, Sendable {
  /// The path as it was opened.
  public var file: String
  /// The line, from 1.
  public var line: Int
  /// The byte within the line, from 1.
  public var column: Int

  /// Makes a position from its parts.
  public init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }
}
