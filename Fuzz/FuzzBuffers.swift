// The fuzz target: readers and verifier on bytes that libFuzzer makes, under AddressSanitizer.
//
// The first byte of an input chooses the schema and whether the rest has a size prefix; the rest,
// which is never aligned, is the buffer. What must hold, besides that nothing is read outside of
// the input:
//
//  - reading damaged bytes field by field never traps;
//  - what the verifier accepts is read in full, without a field that is there and cannot be read;
//  - what was read so, encoded and read again, is the same value.

import FlatBuffersRuntime

// Neither is Sendable, and neither need be: libFuzzer calls its target on one thread only.
nonisolated(unsafe) private let layouts = Schema.all.map { Schema.batch(of: $0.makeItem()) }
nonisolated(unsafe) private let builder = FlatBufferBuilder()

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size > 0 else { return 0 }
  let layout = layouts[Int(data[0]) % layouts.count]
  let isPrefixed = data[0] & 0x80 != 0
  let bytes = UnsafeRawBufferPointer(start: data + 1, count: size - 1)

  let found = isPrefixed ? TableReader(sizePrefixedRoot: bytes) : TableReader(root: bytes)
  if let found {
    var tolerant = Decoder(isStrict: false, budget: 2000)
    // A damaged buffer may ask for more than the budget; what matters is that reading it is safe.
    _ = try? tolerant.table(found, layout)
  }
  _ = TableReader.hasFileIdentifier("SCAL", in: bytes, sizePrefixed: isPrefixed)
  _ = StructReader(root: bytes, size: 16)?.scalar(at: 8) as Double?

  do throws(VerificationError) {
    var verifier =
      isPrefixed
      ? try Verifier.sizePrefixed(bytes, maxTables: 500) : Verifier(bytes, maxTables: 500)
    try verifier.check(verifier.root(), layout)
  } catch {
    guard error.offset >= 0, error.offset <= size, !error.description.isEmpty else {
      fatalError("an error outside of the buffer: \(error.offset)")
    }
    return 0
  }

  do {
    guard let root = found else { fatalError("the verifier accepted a root that cannot be read") }
    var strict = Decoder(budget: .max)
    let value = try strict.table(root, layout)
    builder.reset()
    builder.finish(builder.encode(value, layout))
    guard let again = TableReader(root: builder.bytes) else { fatalError("no root was written") }
    guard try strict.table(again, layout) == value else { fatalError("the value has changed") }
  } catch {
    fatalError("the verifier accepted what cannot be read: \(error)")
  }
  return 0
}
