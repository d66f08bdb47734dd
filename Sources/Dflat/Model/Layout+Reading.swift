// Reading a whole buffer from outside, which is verified first.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TableLayout {
  /// Calls `body` with the root table of a finished buffer and with its bytes. Both are valid only
  /// during the call.
  func readingVerified<R>(
    _ data: Data, _ body: (TableReader, UnsafeRawBufferPointer) -> R
  ) throws(VerificationError) -> R {
    let bytes = ContiguousArray(data)
    let result = bytes.withUnsafeBytes { bytes -> Result<R, VerificationError> in
      do throws(VerificationError) {
        try verify(bytes, requiring: true)
      } catch {
        return .failure(error)
      }
      guard let table = TableReader(root: bytes) else {
        preconditionFailure("a verified buffer has no root")
      }
      return .success(body(table, bytes))
    }
    return try result.get()
  }
}
