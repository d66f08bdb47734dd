// StoredUpload: an upload as it waits in a store, beside the values that it is about.
//
// Its id is greater than those of all uploads that were enqueued before and are still there, so the
// order of ids is the order of transactions.
//
// The values that its transaction has changed are managed until it is done. They are in the upload
// itself, or in a hold. A hold belongs to one upload or to several:
//
//  - Several uploads of one transaction share a hold beside them, which counts them.
//  - An upload that is stored in another domain than some of its values, because either was moved,
//    has a hold beside these values. Its id is the key of the upload, or of one that it replaces:
//    uploads that are coalesced are named by the last one that takes their place. So in the same
//    transaction it gets what they had, also in other domains, where no transaction could tell.

import Dflat
import Foundation

struct StoredUpload: Identifiable, Sendable {
  var id: Int64
  var queue: String
  var orderingKey: String
  /// The idempotency key.
  var key: UUID
  /// The upload as JSON.
  var payload: Data
  var attempts = 0
  /// When it may be sent again; nil if it has not failed.
  var nextAttempt: Date?
  var isParked = false
  var lastError: String?
  /// Whether a server may have got it.
  var wasSent = false
  /// The values that its transaction has changed, if it was the transaction's only upload.
  var subjects: [String] = []
  /// The holds with the values that its transactions have changed besides.
  var holds: [UUID] = []
  /// The keys of uploads whose place it has taken, and whose holds in other domains it has.
  var replaced: [UUID] = []

  /// The ids of the holds that belong to it alone.
  var ownHolds: [UUID] { [key] + replaced }
}

/// Values that are managed until uploads are done.
struct StoredHold: Identifiable, Sendable {
  var id: UUID
  var subjects: [String]
  /// How many uploads name the hold; 0 if it belongs to the upload that has its id as a key.
  var uploads: Int
}

/// The ordering key of uploads, compared as stores do, by its bytes.
typealias OrderingKey = IDKey<String>

extension StoredUpload {
  var ordering: OrderingKey { OrderingKey(orderingKey) }

  /// When the pause of the upload ends; nil if it may be sent.
  /// - Parameters:
  ///   - now: The time of day.
  ///   - longest: The longest pause, in seconds.
  func endOfPause(at now: Date, longest: TimeInterval) -> Date? {
    nextAttempt.flatMap { $0.isPending(at: now, longest: longest) ? $0 : nil }
  }
}

extension Date {
  /// Whether a pause that ends at this time goes on. One that would go on for longer than the
  /// longest pause began while the clock was ahead, and is over.
  func isPending(at now: Date, longest: TimeInterval) -> Bool {
    // A second more, since times are rounded.
    self > now && timeIntervalSince(now) <= longest + 1
  }
}

extension StoredUpload: Bookkeeping {}
extension StoredHold: Bookkeeping {}

// Both are written by hand, because values are looked up in the subjects by an index of elements,
// and queues are read by an index with two columns. The idempotency key is random, so that nothing
// needs to be looked up for it to be unique.
extension StoredHold {
  static let _canonical = CanonicalSchema(
    "silo_holds", version: 1, type: "StoredHold", id: UUID.self,
    [
      CanonicalProperty("id", UUID.self),
      CanonicalProperty("subjects", [String].self, index: .elements),
      CanonicalProperty("uploads", Int.self),
    ])

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(subjects)
    writer.write(uploads)
  }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    subjects = try reader.read(1)
    // A damaged file may have any number, and it is counted on.
    uploads = min(max(0, try reader.read(2)), Int(Int32.max))
  }

  static let subjects = SiloQueryNames<Canonical<StoredHold>>.name([String].self, 1)
}

extension StoredUpload {
  static let _canonical = CanonicalSchema(
    "silo_uploads", version: 1, type: "StoredUpload", id: Int64.self,
    [
      CanonicalProperty("id", Int64.self),
      CanonicalProperty("queue", String.self),
      CanonicalProperty("orderingKey", String.self, index: .indexed),
      CanonicalProperty("key", UUID.self, index: .indexed),
      CanonicalProperty("payload", Data.self),
      CanonicalProperty("attempts", Int.self, default: 0),
      CanonicalProperty("nextAttempt", Date?.self),
      CanonicalProperty("isParked", Bool.self, default: false),
      CanonicalProperty("lastError", String?.self),
      CanonicalProperty("wasSent", Bool.self, default: false),
      CanonicalProperty("subjects", [String].self, index: .elements),
      CanonicalProperty("holds", [UUID].self),
      CanonicalProperty("replaced", [UUID].self, index: .elements),
    ],
    compoundIndexes: [[1, 0]])

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(queue)
    writer.write(orderingKey)
    writer.write(key)
    writer.write(payload)
    writer.write(attempts)
    writer.write(nextAttempt)
    writer.write(isParked)
    writer.write(lastError)
    writer.write(wasSent)
    writer.write(subjects)
    writer.write(holds)
    writer.write(replaced)
  }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    queue = try reader.read(1)
    orderingKey = try reader.read(2)
    key = try reader.read(3)
    payload = try reader.read(4)
    // A damaged file may have any number.
    attempts = max(0, try reader.read(5, default: 0))
    nextAttempt = try reader.read(6)
    isParked = try reader.read(7, default: false)
    lastError = try reader.read(8)
    wasSent = try reader.read(9, default: false)
    subjects = try reader.read(10)
    holds = try reader.read(11)
    replaced = try reader.read(12, default: [])
  }

  private typealias Names = SiloQueryNames<Canonical<StoredUpload>>

  static let id = Names.name(id: Int64.self, 0)
  static let queue = Names.name(String.self, 1)
  static let orderingKey = Names.name(String.self, 2)
  static let key = Names.name(UUID.self, 3)
  static let isParked = Names.name(Bool.self, 7)
  static let subjects = Names.name([String].self, 10)
  static let replaced = Names.name([UUID].self, 12)
}
