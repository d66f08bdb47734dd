// Mistakes in the calling program. They stop it with a message that names the call and the mistake, in optimised builds as well,
// where a failed precondition would say nothing.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Stops the program.
package func misuse(_ message: String) -> Never {
  fatalError(message)
}

/// Stops the program unless a call is right.
@inline(__always)
package func require(_ isRight: Bool, _ message: @autoclosure () -> String) {
  if !isRight { misuse(message()) }
}

/// Tells whoever watches the program.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
