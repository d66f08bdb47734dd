// Arithmetic operators for terms of a generic type.
//
// `+`, `-` and `%` exist for numbers only, so a `Kind` gets them where its number type is known.

import Dflat

protocol Operators<Value>: Sendable {
  associatedtype Value: DflatFriendlyValue
  func apply<Element: Atom>(
    _ name: String, _ term: any QueryExpression<Value, Element>, _ constant: Value, _ swapped: Bool
  ) -> any QueryExpression<Value, Element>
  func apply<Element: Atom>(
    _ name: String, _ left: any QueryExpression<Value, Element>,
    _ right: any QueryExpression<Value, Element>
  ) -> any QueryExpression<Value, Element>
}

struct IntegerOperators<Value: DflatFriendlyValue & FixedWidthInteger>: Operators {
  func apply<Element: Atom>(
    _ name: String, _ term: any QueryExpression<Value, Element>, _ constant: Value, _ swapped: Bool
  ) -> any QueryExpression<Value, Element> {
    func real(_ term: some QueryExpression<Value, Element>) -> Computed<Value, Element> {
      switch (name, swapped) {
      case ("+", false): term + constant
      case ("+", true): constant + term
      case ("-", false): term - constant
      case ("-", true): constant - term
      case ("*", false): term * constant
      case ("*", true): constant * term
      case ("/", false): term / constant
      case ("/", true): constant / term
      case (_, false): term % constant
      case (_, true): constant % term
      }
    }
    return real(term)
  }

  func apply<Element: Atom>(
    _ name: String, _ left: any QueryExpression<Value, Element>,
    _ right: any QueryExpression<Value, Element>
  ) -> any QueryExpression<Value, Element> {
    func real(
      _ left: some QueryExpression<Value, Element>, _ right: some QueryExpression<Value, Element>
    ) -> Computed<Value, Element> {
      switch name {
      case "+": left + right
      case "-": left - right
      case "*": left * right
      case "/": left / right
      default: left % right
      }
    }
    return real(left, right)
  }
}

struct RealOperators<Value: DflatFriendlyValue & BinaryFloatingPoint>: Operators {
  func apply<Element: Atom>(
    _ name: String, _ term: any QueryExpression<Value, Element>, _ constant: Value, _ swapped: Bool
  ) -> any QueryExpression<Value, Element> {
    func real(_ term: some QueryExpression<Value, Element>) -> Computed<Value, Element> {
      switch (name, swapped) {
      case ("+", false): term + constant
      case ("+", true): constant + term
      case ("-", false): term - constant
      case ("-", true): constant - term
      case ("*", false): term * constant
      case ("*", true): constant * term
      case (_, false): term / constant
      case (_, true): constant / term
      }
    }
    return real(term)
  }

  func apply<Element: Atom>(
    _ name: String, _ left: any QueryExpression<Value, Element>,
    _ right: any QueryExpression<Value, Element>
  ) -> any QueryExpression<Value, Element> {
    func real(
      _ left: some QueryExpression<Value, Element>, _ right: some QueryExpression<Value, Element>
    ) -> Computed<Value, Element> {
      switch name {
      case "+": left + right
      case "-": left - right
      case "*": left * right
      default: left / right
      }
    }
    return real(left, right)
  }
}

protocol UnaryOperators<Value>: Sendable {
  associatedtype Value: DflatFriendlyValue
  /// `-` of a term, or `abs`.
  func apply<Element: Atom>(_ term: Term<Value, Element>, isNegation: Bool) -> Term<Value, Element>
}

struct SignedOperators<Value: DflatFriendlyValue & SignedNumeric>: UnaryOperators {
  func apply<Element: Atom>(
    _ term: Term<Value, Element>, isNegation: Bool
  ) -> Term<Value, Element> {
    func real(_ term: some QueryExpression<Value, Element>) -> Computed<Value, Element> {
      isNegation ? -term : abs(term)
    }
    return Term(
      real(term.expression), isNegation ? "-(\(term.text))" : "abs(\(term.text))",
      { object in
        guard let value = term.meaning(object) else { return nil }
        if !isNegation, !(value < 0) { return value }
        // The least integer has no counterpart.
        if let value = value as? any FixedWidthInteger, isLeast(value) { return nil }
        return 0 - value
      })
  }

  private func isLeast(_ value: some FixedWidthInteger) -> Bool { value == type(of: value).min }
}
