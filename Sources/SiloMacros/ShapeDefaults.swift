// The defaults of properties in shapes.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax

extension ExprSyntax {
  /// The expression in a shape, if it is a constant of the given type; nil otherwise.
  func constant(of type: TypeSyntax) -> String? {
    isMember(notOf: type) ? nil : constantText(of: type)
  }

  /// The expression in shapes of earlier releases, which took members of anything for constants;
  /// nil if it is a constant of the given type, or was none.
  func formerConstant(of type: TypeSyntax) -> String? {
    isMember(notOf: type) ? constantText(of: type) : nil
  }

  /// The name of the type's member that the expression is; nil if it is none.
  var memberName: String? {
    self.as(MemberAccessExprSyntax.self).map { unquoted($0.declName.baseName.text) }
  }

  /// Whether the expression is a member of something else than the type, as far as names tell.
  private func isMember(notOf type: TypeSyntax) -> Bool {
    guard let base = self.as(MemberAccessExprSyntax.self)?.base else { return false }
    let name = type.lastName
    if let member = base.as(MemberAccessExprSyntax.self) {
      return ExprSyntax(member).memberName != name
    }
    return unquoted(base.trimmedDescription) != name
  }

  private func constantText(of type: TypeSyntax) -> String? {
    guard isConstant, !type.hasAbsentValue else { return nil }
    let isMember = self.is(MemberAccessExprSyntax.self)
    // The standard types' members, as in `Date.now`, are no constants; the cases of enums are.
    if isMember ? type.isStandard : !type.isLiteralType { return nil }
    let text =
      self.as(StringLiteralExprSyntax.self)?.representedLiteralValue ?? trimmedDescription
    return text.shapeText(with: "._-")
  }

  /// The expression in a shape as a default that is always written.
  func alwaysWritten(as type: TypeSyntax) -> String {
    if isAllDefaults(of: type) { return "()" }
    return tokens(viewMode: .sourceAccurate).map(\.text).joined().shapeText(with: "._-+()[]:,")
  }

  /// A literal without interpolation, with a sign perhaps, or a member of a type.
  private var isConstant: Bool {
    if let prefix = self.as(PrefixOperatorExprSyntax.self) { return prefix.expression.isConstant }
    if let text = self.as(StringLiteralExprSyntax.self) {
      return text.representedLiteralValue != nil
    }
    if let member = self.as(MemberAccessExprSyntax.self) {
      guard let base = member.base else { return true }
      return base.is(DeclReferenceExprSyntax.self) || base.is(MemberAccessExprSyntax.self)
    }
    return self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self)
      || self.is(BooleanLiteralExprSyntax.self)
  }
}

extension TypeSyntax {
  /// Whether the type is one of the standard types.
  fileprivate var isStandard: Bool {
    isLiteralType || ["Date", "UUID", "Data", "URL", "Decimal"].contains(lastName)
  }
}

extension String {
  /// The text with codes in the place of all characters but letters, digits and these.
  fileprivate func shapeText(with others: String) -> String {
    utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain =
        byte < 128 && (character.isLetter || character.isNumber || others.contains(character))
      return isPlain ? String(character) : byte.shapeCode
    }.joined()
  }
}
