// What ends a program of the examples.

/// Ends the program with a message.
public struct Failure: Error, CustomStringConvertible {
  /// The message.
  public let description: String

  /// Makes the error.
  public init(_ description: String) {
    self.description = description
  }
}
