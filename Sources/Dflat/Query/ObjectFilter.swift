// ObjectFilter: a condition that is evaluated on objects, without a workspace.

/// Evaluates a condition on objects that a program has at hand, as a query would.
///
///     let isUrgent = ObjectFilter(Post.priority > 3 && !Post.isDraft)
///     let urgent = posts.filter { isUrgent.matches($0) }
///
/// Conditions about relations and searches for words depend on more than the object; to these it
/// answers false.
package struct ObjectFilter<Element: Atom>: Sendable {
  private let program: Program

  /// Compiles a condition.
  package init(_ condition: some QueryExpression<Bool, Element>) {
    program = Program(condition._node)
  }

  /// Whether the condition is true for an object. It is not if it is unknown.
  package func matches(_ object: Element) -> Bool {
    object._row.read { program.evaluate($0) } == .true
  }

  /// Throws the first error that a function in the condition has thrown since the last call.
  /// - Throws: `FunctionError`.
  package func throwFailure() throws {
    try program.throwFailure(Element._schema)
  }
}
