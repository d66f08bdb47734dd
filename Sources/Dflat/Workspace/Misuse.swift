// Programmer errors. They stop the program with a message that names the call and the mistake, in
// optimised builds as well, where a failed precondition prints no message.

/// Stops the program.
package func misuse(_ message: String) -> Never {
  fatalError(message)
}

/// Stops the program if a condition is false.
@inline(__always)
package func require(_ isRight: Bool, _ message: @autoclosure () -> String) {
  if !isRight { misuse(message()) }
}
