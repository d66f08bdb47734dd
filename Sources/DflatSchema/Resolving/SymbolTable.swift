// Who is called what, and from where.
//
// Names are looked up from the innermost namespace outwards. Order matters, as it does in the language: enums and
// unions must be declared above their use, tables and structs may also come below. A name that is only declared
// below is found by its full name, or, without dots, in the first enclosing namespace that declares it.

/// A declared type, before its content is known.
struct Symbol {
  enum Kind { case enumeration, union, structure, table }

  var name: QualifiedName
  var kind: Kind
  /// The place in the order of all declarations of all files, included ones first.
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

  /// The kind in the words of a message.
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

  /// Adds a symbol; gives back the one that has the name already, if there is one.
  mutating func declare(_ symbol: Symbol) -> Symbol? {
    if let other = symbols[symbol.name] { return other }
    symbols[symbol.name] = symbol
    symbolsByLastName[symbol.name.name, default: []].append(symbol)
    return nil
  }

  subscript(name: QualifiedName) -> Symbol? { symbols[name] }

  /// All symbols whose last name is `name`, by order of declaration.
  func named(_ name: String) -> [Symbol] { symbolsByLastName[name] ?? [] }

  /// What `path` means as a field's type in the declaration with number `order`.
  func type(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    let above = candidates(path, in: namespace)
    return above.first { !$0.isRecord && $0.order < order }
      ?? record(path, in: namespace, at: order)
  }

  /// What `path` means where only a table or struct can stand.
  func record(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    let records = candidates(path, in: namespace).filter(\.isRecord)
    if let known = records.first(where: { $0.order <= order }) { return known }
    if path.count > 1 {
      return records.first { $0.name == Self.absolute(path) }
    }
    return records.min { $0.order < $1.order }
  }

  /// What `path` means as the name of an enum or union above.
  func enumeration(_ path: [String], in namespace: [String], at order: Int) -> Symbol? {
    candidates(path, in: namespace).first { !$0.isRecord && $0.order < order }
  }

  /// The symbols that `path` could mean, from the innermost namespace outwards.
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
