// @Index: a second order of a record. @IndexKeyRecord reads the attribute and generates what it needs; by itself it generates nothing, and
// says so where it would have no effect.

internal import SwiftSyntax
internal import SwiftSyntaxMacros

struct IndexMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
    if attributes.map({ self.attributes(named: "IndexKeyRecord", in: $0).isEmpty }) ?? true {
      context.refuse(
        node, "indexOfNoRecord", "@Index has no effect without @IndexKeyRecord beside it")
    }
    return []
  }

  /// The attributes with a macro's name, with or without the module's.
  static func attributes(named name: String, in list: AttributeListSyntax) -> [AttributeSyntax] {
    list.compactMap { element in
      guard case .attribute(let attribute) = element else { return nil }
      let text = attribute.attributeName.trimmedDescription
      return text == name || text == "Empire.\(name)" ? attribute : nil
    }
  }
}

extension RecordDescription {
  /// An index: its properties in the order of the arguments.
  struct Index {
    let properties: [Property]

    var names: [String] { properties.map(\.name) }
    /// Names and types, so that an index of something else is another index.
    var tag: UInt32 { typeHash(properties.map { "\($0.name):\($0.type)" }.joined(separator: ",")) }
  }

  /// The indexes of a declaration. Nil if something is wrong with one, which has been said then.
  static func indexes(
    of declaration: some DeclGroupSyntax, name: String, keys: [Property], all: [Property],
    in context: some MacroExpansionContext
  ) -> [Index]? {
    var isRight = true
    var indexes: [Index] = []
    for attribute in IndexMacro.attributes(named: "Index", in: declaration.attributes) {
      guard
        let arguments = RecordArguments.names(attribute, "@Index", in: context),
        let properties = properties(
          named: arguments, of: name, among: all, as: "index", in: context)
      else {
        isRight = false
        continue
      }
      for (property, argument) in zip(properties, arguments) {
        guard let reason = property.reasonAgainstOrder else { continue }
        context.refuse(
          argument.expression, "unsortable", "'\(property.name)' cannot be indexed: \(reason)")
        isRight = false
      }
      let index = Index(properties: properties)
      if keys.map(\.name).starts(with: index.names) {
        context.refuse(
          attribute, "superfluousIndex",
          "the key begins with \(index.names.quoted), so it answers what this index would")
        isRight = false
      } else if let other = indexes.first(where: {
        $0.names.starts(with: index.names) || index.names.starts(with: $0.names)
      }) {
        context.refuse(
          attribute, "superfluousIndex",
          other.names == index.names
            ? "there is an index by \(index.names.quoted) already"
            : "the longer one of the indexes by \(other.names.quoted) and by \(index.names.quoted) "
              + "answers what both would")
        isRight = false
      }
      indexes.append(index)
    }
    return isRight ? indexes : nil
  }
}

extension RecordDescription.Property {
  /// Why a type has no order, as far as its text tells. For other types the compiler says it.
  var reasonAgainstOrder: String? {
    let text = type.filter { !$0.isWhitespace }
    func isGeneric(_ name: String) -> Bool {
      text.hasPrefix(name + "<") || text.hasPrefix("Swift.\(name)<")
    }
    if text.hasSuffix("?") || isGeneric("Optional") {
      return "an optional has no place in an order; take a property that always has a value"
    }
    if text.hasPrefix("[") || ["Array", "Set", "Dictionary"].contains(where: isGeneric) {
      return "a collection has no order"
    }
    return nil
  }
}

extension [String] {
  /// 'a', 'b'
  var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}
