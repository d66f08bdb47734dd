// The fuzz target for stored rows: Dflat's fast check, its verifier and what reads rows, on bytes
// that libFuzzer makes, under AddressSanitizer.
//
// An input is a row. What must hold, besides that nothing is read outside of the input:
//
//  - what the fast check accepts, the verifier accepts;
//  - what the verifier accepts can be described, hashed and copied; the copy is sound, and equal if
//    the fast check accepts.

import FlatBuffersRuntime

@testable import Dflat

private let plan = item.plan
// Not Sendable, and need not be: libFuzzer calls its target on one thread only.
nonisolated(unsafe) private let builder = FlatBufferBuilder()

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: data, count: size)
  let isSound = plan.isSound(bytes)
  do throws(VerificationError) {
    try plan.verifyFully(bytes)
  } catch {
    if isSound { fatalError("the fast check accepted what is refused: \(error)") }
    return 0
  }
  guard let table = TableReader(root: bytes) else { fatalError("a root was accepted that is none") }
  // Many references to one table are sound, and what they unfold to takes its time: the fast check
  // bounds it.
  guard isSound || size <= 160 else { return 0 }
  var hasher = Hasher()
  item.hash(table, into: &hasher)
  if item.describe(table).isEmpty { fatalError("a row without a description") }
  builder.reset()
  builder.finish(item.copy(table, to: builder))
  do throws(VerificationError) {
    try plan.verifyFully(builder.bytes)
  } catch { fatalError("the copy of a sound row is not sound: \(error)") }
  // Where vectors of unions have members that the schema does not know, a copy is shorter; the fast
  // check takes no such vector.
  guard isSound else { return 0 }
  guard let copy = TableReader(root: builder.bytes), item.equal(table, copy) else {
    fatalError("the copy of a row differs from it")
  }
  return 0
}
