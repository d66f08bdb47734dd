// The syntax of a query's text, before names have a meaning.

/// A query: `Post where likes > 10 order by title desc limit 5`.
struct QuerySyntax {
  /// The name of a type, which may have dots.
  var type: String
  var typeRange: Range<Int>
  var condition: ExpressionSyntax?
  var order: [(key: ExpressionSyntax, isDescending: Bool)] = []
  var limit: Int?
  var offset = 0
}

/// An expression with its place.
struct ExpressionSyntax {
  indirect enum Kind {
    case name(String, isQuoted: Bool)
    case variable(Int)
    case number(String)
    case text(String)
    case list([ExpressionSyntax])
    /// `a.b`, with the place of the name.
    case member(ExpressionSyntax, String, Range<Int>)
    /// `a.f(x)`, or `f(x)` if there is no `a`.
    case call(ExpressionSyntax?, String, [ExpressionSyntax], Range<Int>)
    /// `a.any { … }`, `a.all { … }`.
    case quantified(ExpressionSyntax, isAll: Bool, ExpressionSyntax)
    case negative(ExpressionSyntax)
    case not(ExpressionSyntax)
    case connective(isAnd: Bool, [ExpressionSyntax])
    /// A comparison or an arithmetic operator.
    case binary(String, ExpressionSyntax, ExpressionSyntax)
    /// `a is b`, where `b` is the name of a union's member, or null.
    case type(ExpressionSyntax, ExpressionSyntax, isNegated: Bool)
    case membership(ExpressionSyntax, ExpressionSyntax, isNegated: Bool)
    case between(ExpressionSyntax, ExpressionSyntax, ExpressionSyntax, isNegated: Bool)
    case like(ExpressionSyntax, ExpressionSyntax, escape: ExpressionSyntax?, isNegated: Bool)
  }

  var kind: Kind
  var range: Range<Int>
}
