// Defaults that have the same value whenever they are evaluated, besides the constants of shapes.
//
// They are evaluated where values are read, outside of any actor. So only the initializers of
// standard types are known to be callable.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax

extension ExprSyntax {
  /// Whether the expression makes a struct with all of its defaults: `Address()` or `.init()`.
  func isAllDefaults(of type: TypeSyntax) -> Bool {
    guard !type.isKnown, !type.hasAbsentValue, let call = self.as(FunctionCallExprSyntax.self),
      call.arguments.isEmpty, call.trailingClosure == nil
    else { return false }
    let (callee, name) = (call.calledExpression.trimmedDescription, type.trimmedDescription)
    return [name, "\(name).init", ".init"].contains(callee)
  }

  /// Whether the expression names more than literals, the initializers of standard types, and
  /// members of its type without a base: then it means the same only where it was written.
  func namesMore(than type: TypeSyntax) -> Bool {
    if let prefix = self.as(PrefixOperatorExprSyntax.self) {
      return prefix.expression.namesMore(than: type)
    }
    if let member = self.as(MemberAccessExprSyntax.self) { return member.base != nil }
    if let call = self.as(FunctionCallExprSyntax.self), standardInitializer == nil {
      return call.calledExpression.namesMore(than: type)
    }
    return self.is(DeclReferenceExprSyntax.self)
  }

  /// Whether the expression is nil or an empty collection, as what is absent reads.
  func isNothing(of type: TypeSyntax) -> Bool {
    if type.code.hasSuffix("?") {
      let text = trimmedDescription
      return self.is(NilLiteralExprSyntax.self) || text == ".none" || text == "Optional.none"
    }
    if let array = self.as(ArrayExprSyntax.self) { return array.elements.isEmpty }
    if let dictionary = self.as(DictionaryExprSyntax.self) {
      return dictionary.content.is(TokenSyntax.self)
    }
    guard let call = self.as(FunctionCallExprSyntax.self) else { return false }
    // An initializer without arguments makes an empty collection; data is none here.
    let callee = call.calledExpression
    let isType =
      callee.is(ArrayExprSyntax.self) || callee.is(DictionaryExprSyntax.self)
      || callee.trimmedDescription == ".init"
      || callee.trimmedDescription.first?.isUppercase == true
    return isType && call.arguments.isEmpty && call.trailingClosure == nil
      && standardInitializer == nil
  }

  /// Whether the expression always has the same value, and can be evaluated anywhere.
  func isFixed(as type: TypeSyntax?) -> Bool {
    if let prefix = self.as(PrefixOperatorExprSyntax.self) {
      return prefix.expression.isFixed(as: type)
    }
    if let text = self.as(StringLiteralExprSyntax.self) {
      return text.representedLiteralValue != nil
    }
    if let array = self.as(ArrayExprSyntax.self) {
      return array.elements.allSatisfy { $0.expression.isFixed(as: nil) }
    }
    if let dictionary = self.as(DictionaryExprSyntax.self) {
      guard case .elements(let elements) = dictionary.content else { return true }
      return elements.allSatisfy { $0.key.isFixed(as: nil) && $0.value.isFixed(as: nil) }
    }
    if let member = self.as(MemberAccessExprSyntax.self) {
      let base = member.base?.trimmedDescription ?? type?.lastName
      let name = member.declName.baseName.text
      return (base == "Date" && ["distantPast", "distantFuture"].contains(name))
        || (base == "Decimal" && name == "zero")
    }
    if let call = self.as(FunctionCallExprSyntax.self) {
      guard let name = standardInitializer, call.trailingClosure == nil else { return false }
      if call.arguments.isEmpty { return name != "Date" }
      return call.arguments.allSatisfy {
        $0.label?.text != "timeIntervalSinceNow" && $0.expression.isFixed(as: nil)
      }
    }
    return self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self)
      || self.is(BooleanLiteralExprSyntax.self)
  }

  /// The standard type whose initializer is called.
  private var standardInitializer: String? {
    guard let call = self.as(FunctionCallExprSyntax.self),
      let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
      ["Date", "Data", "Decimal"].contains(name)
    else { return nil }
    return name
  }
}
