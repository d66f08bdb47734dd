// @Index: adds an index to a record. @IndexKeyRecord reads the attribute and generates the code for
// it. The macro itself generates nothing; it reports an error where the attribute would have no
// effect.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

struct IndexMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
    if attributes.map({ $0.named("IndexKeyRecord").isEmpty }) ?? true {
      context.reportError(
        node, "indexOfNoRecord", "@Index has no effect without @IndexKeyRecord beside it")
    }
    return []
  }
}

extension RecordDescription {
  /// An index: its properties in the order of the arguments.
  struct Index {
    let properties: [Property]

    var names: [String] { properties.map(\.name) }
    var positions: [Int] { properties.map(\.position) }
    /// Depends on names and types, so that an index of other properties has another tag.
    var tag: UInt32 { typeHash(properties.map { "\($0.name):\($0.type)" }.joined(separator: ",")) }
  }

  /// The indexes of a declaration. Returns nil after reporting an error if one is invalid.
  static func indexes(
    of declaration: some DeclGroupSyntax, name: String, keys: [Property], all: [Property],
    in context: some MacroExpansionContext
  ) -> [Index]? {
    var isValid = true
    var indexes: [Index] = []
    for attribute in declaration.attributes.named("Index") {
      guard
        let arguments = RecordArguments.names(attribute, "@Index", in: context),
        let properties = properties(
          named: arguments, of: name, among: all, as: "index", in: context)
      else {
        isValid = false
        continue
      }
      for (property, argument) in zip(properties, arguments) {
        guard let reason = property.unsortableReason else { continue }
        context.reportError(
          argument.expression, "unsortable", "'\(property.name)' cannot be indexed: \(reason)")
        isValid = false
      }
      let index = Index(properties: properties)
      if keys.map(\.position).starts(with: index.positions) {
        context.reportError(
          attribute, "superfluousIndex",
          "the key begins with \(index.names.quoted), so it already answers these queries")
        isValid = false
      } else if let other = indexes.first(where: {
        $0.positions.starts(with: index.positions) || index.positions.starts(with: $0.positions)
      }) {
        context.reportError(
          attribute, "superfluousIndex",
          other.positions == index.positions
            ? "there is already an index by \(index.names.quoted)"
            : "the longer of the indexes by \(other.names.quoted) and by \(index.names.quoted) "
              + "answers the queries of both")
        isValid = false
      }
      indexes.append(index)
    }
    return isValid ? indexes : nil
  }
}

extension RecordDescription.Property {
  /// The reason why a type has no order, if its spelling shows that. The compiler checks all other
  /// types.
  var unsortableReason: String? {
    let text = type.filter { !$0.isWhitespace }
    func isGeneric(_ name: String) -> Bool {
      text.hasPrefix(name + "<") || text.hasPrefix("Swift.\(name)<")
    }
    if text.hasSuffix("?") || isGeneric("Optional") {
      return "an optional has no defined order; use a property that always has a value"
    }
    if text.hasPrefix("[") || ["Array", "Set", "Dictionary"].contains(where: isGeneric) {
      return "a collection has no order"
    }
    return nil
  }
}
