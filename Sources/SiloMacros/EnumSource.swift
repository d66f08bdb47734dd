// The extension of an enum inside stored values.
//
// An enum with strings or integers as raw values is stored as its raw value. Any other enum is
// stored as a table: the name of the case, and a table for the associated values of each case that
// has some.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacros

struct EnumSource: PartSource {
  private struct Case {
    let identifier: String
    let values: [(label: String?, type: TypeSyntax)]
    /// The slot of the associated values; nil if there are none.
    let slot: Int?
    let element: EnumCaseElementSyntax

    var name: String { unquoted(identifier) }
    var fields: String { "_Cases._\(slot ?? 0)" }

    /// The name of an associated value's type in the generated code; nil if it is not checked.
    func storedType(_ position: Int) -> String? {
      values[position].type.isKnown ? nil : "_\(slot ?? 0)_\(position)"
    }
  }

  private let ownName: String
  private let access: String
  private let rawType: TypeSyntax?
  private var cases: [Case] = []
  private var storedTypes: StoredTypes?
  /// Whether one of the cases is deprecated.
  private var isDeprecated = false

  private static let rawTypes: Set<String> = [
    "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
    "UInt64",
  ]

  init?(
    _ node: AttributeSyntax, of declaration: EnumDeclSyntax, in context: some MacroExpansionContext
  ) {
    ownName = declaration.ownName
    access = memberAccess(of: declaration, in: context)
    let inherited = declaration.inheritanceClause?.inheritedTypes.map(\.type) ?? []
    // Other raw values, such as characters, are not stored; the names of the cases are.
    rawType = inherited.first { Self.rawTypes.contains($0.trimmedDescription) }
    var entries: [ShapeEntry] = []
    var next: UInt64 = 0
    for member in declaration.memberBlock.members {
      if let conditional = member.decl.as(IfConfigDeclSyntax.self), conditional.hasCase {
        context.reportError(
          conditional, "conditional",
          "the macro cannot tell which branch of an '#if' is compiled")
        return nil
      }
      guard let group = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
      if !group.attributes.deprecations.isEmpty { isDeprecated = true }
      for element in group.elements {
        let values = (element.parameterClause?.parameters).map { $0.map { $0 } } ?? []
        for value in values {
          guard let reason = value.type.unstorableReason else { continue }
          context.reportError(
            value.type, "unsupportedType",
            "'\(element.name.text)' cannot be stored: \(reason)")
          return nil
        }
        // All of them are reported.
        let areFollowed = values.map {
          checkRelationIsFollowed(element.name.text, $0.type, isPart: true, in: context)
        }
        if areFollowed.contains(false) { return nil }
        if let other = cases.first(where: { $0.name == unquoted(element.name.text) }) {
          context.reportError(
            element, "sameCase",
            "there is a case '\(other.name)' already, and the name of a case is what is stored; give "
              + "one of them another name")
          return nil
        }
        cases.append(
          Case(
            identifier: element.name.text,
            values: values.map { value in
              (value.firstName.flatMap { $0.text == "_" ? nil : $0.text }, value.type)
            },
            slot: values.isEmpty ? nil : cases.filter { $0.slot != nil }.count + 1,
            element: element))
        if let raw = element.rawValue?.value.integerBits { next = raw }
        entries.append(Self.entry(element, rawType, values, &next))
      }
    }
    if cases.isEmpty {
      context.reportError(declaration.name, "noCases", "an enum without cases has no values")
      return nil
    }
    let shape = Shape(entries).inOrder(
      places: cases.map { Syntax($0.element) }, isRaw: rawType != nil)
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: shape.shape, places: shape.places,
      advice: innerAdvice
    ) { [isRaw = rawType != nil] in $0.caseDifferences(from: $1, isRaw: isRaw) }
    let frozen = check.report(in: context)
    let types = cases.flatMap { element in
      let frozen = frozen?.entry(element.name)
      return element.values.indices.compactMap { position in
        element.storedType(position).map {
          NamedType(
            name: $0, type: element.values[position].type, frozen: frozen, position: position)
        }
      }
    }
    storedTypes = StoredTypes(types, ownName: ownName, in: context)
  }

  /// The case in a shape, with the types of the associated values or that of the raw value.
  private static func entry(
    _ element: EnumCaseElementSyntax, _ rawType: TypeSyntax?, _ values: [EnumCaseParameterSyntax],
    _ next: inout UInt64
  ) -> ShapeEntry {
    let parts = values.map { value in
      ShapePart(label: value.firstName.map { "\($0.text.shapeText):" } ?? "", type: value.type)
    }
    let list = parts.map { $0.label + $0.type.code }.joined(separator: ",")
    return ShapeEntry(
      name: unquoted(element.name.text), code: rawType?.code ?? "(\(list))",
      constant: rawConstant(element, rawType, &next), parts: rawType == nil ? parts : [],
      isCase: rawType == nil)
  }

  /// The raw value in a shape; nil if it is the name of the case.
  /// - Parameter next: The bits of the raw value that a case without one has.
  private static func rawConstant(
    _ element: EnumCaseElementSyntax, _ rawType: TypeSyntax?, _ next: inout UInt64
  ) -> String? {
    guard let rawType else { return nil }
    if rawType.code == "S" { return element.rawValue?.value.constant(of: rawType) }
    // Behind the greatest value the compiler reports an error.
    defer { next &+= 1 }
    let isSigned = !rawType.trimmedDescription.hasPrefix("U")
    let implied = isSigned ? "\(Int64(bitPattern: next))" : "\(next)"
    return element.rawValue?.value.constant(of: rawType) ?? implied
  }

  var members: [String] { (rawType == nil ? table : raw).inDeprecated(isDeprecated) }

  func conformances(of name: String) -> [String] {
    let protocols: String
    if let rawType {
      protocols = rawType.code == "S" ? "PersistableTextEnum" : "PersistableNumberEnum"
    } else {
      let isPlain = cases.allSatisfy { $0.slot == nil }
      protocols = isPlain ? "PersistableStruct, PersistableCaseEnum" : "PersistableStruct"
    }
    return [
      (storedTypes?.checksText ?? []).inDeprecated(isDeprecated).lines.wrapped(
        in: "nonisolated extension \(name): \(protocols)")
    ]
  }

  private var raw: [String] {
    // A case with this name is what the protocol asks for.
    let unreadable =
      cases.contains { $0.name == "unreadable" }
      ? [] : ["nonisolated \(access)static var unreadable: Self { .\(cases[0].identifier) }"]
    return unreadable + [
      """
      nonisolated \(access)static func _hasCase(_ name: String) -> Bool {
        [\(cases.map(\.name.literal).commas)].contains(name)
      }
      """
    ]
  }

  private var table: [String] {
    let full = cases.filter { $0.slot != nil }
    let payloads = full.map { element in
      let list = element.values.enumerated().map { position, value in
        let type =
          element.storedType(position).map { "_StoredTypes.\($0).Value.self" }
          ?? "(\(value.type.text(in: ownName))).self"
        return
          "    CanonicalProperty(\((value.label.map(unquoted) ?? "_\(position)").literal), \(type))"
      }.joined(separator: ",\n")
      return """
        static let _\(element.slot ?? 0) = CanonicalFields(
          \(element.name.literal),
          [
        \(list)
          ])
        """
    }
    let list = full.map {
      ",\n    CanonicalProperty(\($0.name.literal), table: { \($0.fields) })"
    }
    let fields = """
      nonisolated \(access)static let _fields = CanonicalFields(
        \(ownName.literal),
        [
          CanonicalProperty("case", String.self)\(list.joined())
        ])
      """
    let nested =
      payloads.isEmpty
      ? [] : [payloads.joined(separator: "\n\n").wrapped(in: "nonisolated private enum _Cases")]
    return (storedTypes?.text.map { [$0] } ?? []) + nested + [fields, writing(full.count), reading]
  }

  private func writing(_ count: Int) -> String {
    let lines = cases.flatMap { element -> [String] in
      let values = element.values.indices.map { "_\($0)" }
      guard let slot = element.slot else {
        return [
          "case .\(element.identifier):",
          "  _writer.write(case: \(element.name.literal), of: \(count))",
        ]
      }
      return [
        "case .\(element.identifier)(\(values.map { "let \($0)" }.commas)):",
        "  _writer.write(case: \(element.name.literal), \(slot), of: \(count), \(element.fields)) { _writer in",
      ]
        + values.enumerated().map { position, value in
          element.storedType(position).map {
            "    _StoredTypes.\($0).write(\(value), to: &_writer)"
          } ?? "    _writer.write(\(value))"
        } + ["  }"]
    }
    return (["switch self {"] + lines + ["}"]).lines
      .wrapped(in: "nonisolated \(access)func _write(to _writer: inout CanonicalWriter)")
  }

  private var reading: String {
    let lines = cases.flatMap { element -> [String] in
      guard let slot = element.slot else {
        return ["case \(element.name.literal):", "  self = .\(element.identifier)"]
      }
      let values = element.values.enumerated().map { position, value in
        (value.label.map { "\($0): " } ?? "")
          + (element.storedType(position).map {
            "try _StoredTypes.\($0).read(_values, \(position))"
          }
            ?? "try _values.read(\(position))")
      }
      return [
        "case \(element.name.literal):",
        "  let _values = try _reader.values(\(slot), \(element.fields))",
        "  self = .\(element.identifier)(\(values.commas))",
      ]
    }
    return
      (["switch try _reader.caseName() {"] + lines + [
        "case let _name: throw _reader.unknownCase(_name)", "}",
      ]).lines.wrapped(in: "nonisolated \(access)init(_reading _reader: CanonicalReader) throws")
  }
}

extension IfConfigDeclSyntax {
  /// Whether one of the branches has a case.
  fileprivate var hasCase: Bool {
    clauses.contains { clause in
      guard case .decls(let members) = clause.elements else { return false }
      return members.contains {
        $0.decl.is(EnumCaseDeclSyntax.self)
          || $0.decl.as(IfConfigDeclSyntax.self)?.hasCase == true
      }
    }
  }
}

extension ExprSyntax {
  /// The bits of an integer literal in any notation, with a sign perhaps; nil if it is none, or has
  /// more than 64 bits.
  fileprivate var integerBits: UInt64? {
    if let prefix = self.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
      return prefix.expression.integerBits.map { 0 &- $0 }
    }
    guard let literal = self.as(IntegerLiteralExprSyntax.self)?.literal.text else { return nil }
    let text = literal.filter { $0 != "_" }
    let radix = ["0x": 16, "0o": 8, "0b": 2][text.prefix(2)]
    return UInt64(radix == nil ? text[...] : text.dropFirst(2), radix: radix ?? 10)
  }
}
