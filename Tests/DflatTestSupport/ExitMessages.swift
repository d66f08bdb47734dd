// The message with which a process ended.

public import Testing

/// Expects words in what a process wrote to its standard error stream.
public func expectMessage(
  _ result: ExitTest.Result?, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
) {
  let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  for word in words { #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation) }
}
