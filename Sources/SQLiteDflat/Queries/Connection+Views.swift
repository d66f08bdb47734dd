// Objects in plain SQL: views of entity types, and the functions that they are made of.
//
// A file has an object's bytes in one column, which only a program with the schema can read. Such a
// program gives its connection SQL functions that read them, and temporary views that call these
// functions. Both belong to the connection: the file is not changed, and what is stored in a file
// cannot call the functions (they are "direct only").

public import Dflat
import FlatBuffersRuntime
public import SQLiteAccess

extension Connection {
  /// Creates a view of an entity type, with a column for each field.
  ///
  /// ```swift
  /// let connection = try Connection(path: dflat.filePath, mode: .readOnly)
  /// try connection.createView(of: Post.self)
  /// let rows = try connection.rows(
  ///   "SELECT color, avg(priority) FROM Post GROUP BY color HAVING count(*) > 10")
  /// ```
  ///
  /// The view is temporary and read-only: it belongs to this connection, and the file is not
  /// changed. In this connection its name hides a table of the file with the same name, which is
  /// `main.post` then. A view of the same type and name is replaced.
  ///
  /// <doc:Files> says which values the columns have, and describes the functions `dflat_json`,
  /// `dflat_field` and `dflat_problem`, which this call creates, too.
  ///
  /// - Parameters:
  ///   - type: The entity type. Its table may be missing yet: then the view's queries fail.
  ///   - name: The name of the view, and of the type in the functions; nil is the type's name in
  ///     the schema, without namespace.
  /// - Throws: ``SQLiteError``: ``ResultCode/misuse`` if the name stands for another type.
  public func createView<Element: Atom>(
    of type: Element.Type, named name: String? = nil
  ) throws(SQLiteError) {
    try createView(of: Element._schema, named: name ?? Element._schema.layout.name)
  }

  private func createView(of schema: EntitySchema, named name: String) throws(SQLiteError) {
    let types = try viewedTypes()
    if let known = types.named[name], known.schema != schema {
      throw SQLiteError(
        code: .misuse,
        message: "\(name) is the view of the table \(known.schema.table); "
          + "give that of \(schema.table) another name", path: path)
    }
    let viewed = ViewedType(schema)
    let arguments = "\(SQLValue.text(name)), p"
    let columns =
      viewed.fields.map { field in
        "dflat_field(\(arguments), \(SQLValue.text(field.name))) AS \(Self.quoted(field.name))"
      } + [
        "dflat_json(\(arguments)) AS _json", "dflat_problem(\(arguments)) AS _problem",
        "rowid AS _rowid",
      ]
    try execute("DROP VIEW IF EXISTS temp.\(Self.quoted(name))")
    try execute(
      "CREATE TEMP VIEW \(Self.quoted(name)) AS SELECT \(columns.joined(separator: ", ")) "
        + "FROM main.\(Self.quoted(schema.table))")
    types.named[name] = viewed
  }

  /// The types that have views on this connection. The first call creates the functions.
  private func viewedTypes() throws(SQLiteError) -> ViewedTypes {
    if let types = companion as? ViewedTypes { return types }
    let types = ViewedTypes()
    try createFunction("dflat_field", argumentCount: 3, deterministic: true, isDirectOnly: true) {
      call in
      guard let type = try types.type(of: call, "dflat_field"), let name = call.string(2) else {
        return .null
      }
      return try type.read(call.blob(1)) { bytes in
        SQLValue(try type.field(name).value(in: bytes))
      }
    }
    try createFunction("dflat_json", argumentCount: 2, deterministic: true, isDirectOnly: true) {
      call in
      guard let type = try types.type(of: call, "dflat_json") else { return .null }
      return try type.read(call.blob(1)) { .text(try type.schema.layout.json(of: $0)) }
    }
    try createFunction("dflat_problem", argumentCount: 2, deterministic: true, isDirectOnly: true) {
      call in
      guard call.type(1) != .null, let name = call.string(0) else { return .null }
      let type = try types.type(named: name)
      guard call.type(1) == .blob else { return .text("the object is no blob") }
      return type.problem(of: RowChecksum.content(of: call.blob(1), as: type.schema)).map {
        .text($0)
      } ?? .null
    }
    companion = types
    return types
  }
}

/// The types that a connection has views of.
private final class ViewedTypes {
  var named: [String: ViewedType] = [:]

  func type(named name: String) throws(SQLiteError) -> ViewedType {
    if let type = named[name] { return type }
    let known = named.keys.sorted().joined(separator: ", ")
    throw SQLiteError(
      code: .error, message: "there is no view of a type \(name); there are views of \(known)")
  }

  /// The type that the first argument names; nil if the object is `NULL`.
  func type(
    of call: borrowing FunctionContext, _ function: String
  ) throws(SQLiteError) -> ViewedType? {
    guard call.type(1) != .null, let name = call.string(0) else { return nil }
    let type = try type(named: name)
    if call.type(1) == .blob { return type }
    throw SQLiteError(
      code: .mismatch, message: "\(function): the object of \(type.schema.table) is no blob")
  }
}

/// A type that has a view.
private final class ViewedType {
  let schema: EntitySchema
  let fields: [PlainField]
  private let named: [String: PlainField]

  init(_ schema: EntitySchema) {
    self.schema = schema
    fields = schema.layout.plainFields
    // A field may have the name that another one's union type has; the first one keeps it.
    named = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
  }

  func field(_ name: String) throws(SQLiteError) -> PlainField {
    if let field = named[name] { return field }
    throw SQLiteError(
      code: .error,
      message: "\(schema.layout.name) has no field \(name); the fields are "
        + fields.map(\.name).joined(separator: ", "))
  }

  /// Calls `body` with the bytes of a sound object.
  func read(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> SQLValue
  ) throws -> SQLValue {
    let bytes = RowChecksum.content(of: bytes, as: schema)
    if let problem = problem(of: bytes) {
      throw SQLiteError(
        code: .corrupt,
        message: "an object of \(schema.table) is damaged: \(problem); "
          + "leave such objects out with _problem IS NULL")
    }
    return try body(bytes)
  }

  /// What is wrong with the bytes of an object; nil if they are sound.
  func problem(of bytes: UnsafeRawBufferPointer) -> String? {
    do throws(VerificationError) { try schema.layout.verify(bytes) } catch {
      return error.storedReason
    }
    return nil
  }
}

extension SQLValue {
  fileprivate init(_ value: PlainValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let value): .text(value)
      }
  }
}
