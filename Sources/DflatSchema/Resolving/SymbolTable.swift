// Maps names to declarations, depending on where they are used.
//
// Names are looked up from the innermost namespace outwards. Order matters, as in the language:
// enums and unions must be declared above their use; tables and structs may also be declared below.
// A name that is only declared below is found by its full name, or, without dots, in the first
// enclosing namespace that declares it.

/// A declared type, before its body is resolved.
struct Symbol {
  enum Kind { case enumeration, union, structure, table }

  var name: QualifiedName
  var kind: Kind
  /// The index in the order of all declarations of all files, included ones first.
  var order: Int
  var range: SourceRange

  /// The type of a field that mentions it.
  var fieldType: FieldType {
    switch kind {
    case .enumeration: .enumeration(name)
    case .union: .union(name)
    case .structure: .structure(name)
    case .table: .table(name)
    }
  }

  /// The kind, worded for a message.
  var described: String {
    switch kind {
    case .enumeration: "an enum"
    case .union: "a union"
    case .structure: "a struct"
    case .table: "a table"
    }
  }

  var isRecord: Bool { kind == .structure || kind == .table }
}

struct SymbolTable {
  private var symbols: [QualifiedName: Symbol] = [:]
  /// In order of declaration.
  private var symbolsByLastName: [String: [Symbol]] = [:]

  /// Adds a symbol; returns the existing one if the name is taken.
  mutating func declare(_ symbol: Symbol) -> Symbol? {
    if let other = symbols[symbol.name] { return other }
    symbols[symbol.name] = symbol
    symbolsByLastName[symbol.name.name, default: []].append(symbol)
    return nil
  }

  subscript(name: QualifiedName) -> Symbol? { symbols[name] }

  /// All symbols whose last name is `name`, by order of declaration.
  func named(_ name: String) -> [Symbol] { symbolsByLastName[name] ?? [] }

  /// The meaning of `path` as a field's type, in the declaration with index `order`.
  func type(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    let above = candidates(path, in: namespace)
    return above.first { !$0.isRecord && $0.order < order }
      ?? record(path, in: namespace, at: order)
  }

  /// The meaning of `path` where only a table or struct is allowed.
  func record(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    let records = candidates(path, in: namespace).filter(\.isRecord)
    if let known = records.first(where: { $0.order <= order }) { return known }
    if path.count > 1 {
      return records.first { $0.name == Self.absolute(path) }
    }
    return records.min { $0.order < $1.order }
  }

  /// The meaning of `path` as the name of an enum or union declared above.
  func enumeration(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    candidates(path, in: namespace).first { !$0.isRecord && $0.order < order }
  }

  /// All possible meanings of `path`, from the innermost namespace outwards.
  private func candidates(_ path: [String], in namespace: [String]) -> [Symbol] {
    guard let last = path.last else { return [] }
    return stride(from: namespace.count, through: 0, by: -1).compactMap { depth in
      symbols[QualifiedName(namespace: namespace.prefix(depth) + path.dropLast(), name: last)]
    }
  }

  private static func absolute(_ path: [String]) -> QualifiedName {
    QualifiedName(namespace: Array(path.dropLast()), name: path[path.count - 1])
  }
}
