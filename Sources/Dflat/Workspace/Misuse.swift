// Mistakes in the calling program. They stop it with a message that names the call and the mistake, in optimised builds as well,
// where a failed precondition would say nothing.

/// Stops the program.
package func misuse(_ message: String) -> Never {
  fatalError(message)
}

/// Stops the program unless a call is right.
@inline(__always)
package func require(_ isRight: Bool, _ message: @autoclosure () -> String) {
  if !isRight { misuse(message()) }
}
