// The objects of the scaling runs. They depend only on their number.
//
//  - About a hundred objects, spread over the table, share a bucket, whatever the size of the
//    table.
//  - Every sixth object has a high priority.
//  - Names have 8 to 40 bytes.

import Dflat

struct ScaleSample: Sendable {
  /// Greater than every number in a prepared file.
  static let firstNew: Int64 = 1_000_000_000

  let number: Int64
  let bucket: Int32
  let priority: Int32
  let name: String

  init(_ number: Int64, buckets: Int32) {
    var random = Random(seed: UInt64(bitPattern: number))
    self.number = number
    bucket = Int32(truncatingIfNeeded: random.next() % UInt64(buckets)) + 1
    priority = Int32(number % 6 == 0 ? random.number(51...100) : random.number(1...50))
    name = random.text(8...40)
  }

  static func make(_ numbers: Range<Int64>, buckets: Int32 = 100) -> [ScaleSample] {
    numbers.map { ScaleSample($0, buckets: buckets) }
  }

  /// The number of buckets in a table with this many objects.
  static func buckets(_ count: Int) -> Int32 {
    Int32(max(1, count / 100))
  }
}

extension Store {
  /// Stores objects in one transaction.
  func insert(_ samples: [ScaleSample]) throws {
    write(ScaleDoc.self) { transaction in
      for sample in samples {
        let request = ScaleDocChangeRequest.creationRequest()
        request.number = sample.number
        request.bucket = sample.bucket
        request.priority = sample.priority
        request.name = sample.name
        try transaction.submit(request)
      }
    }
    try check()
  }
}
