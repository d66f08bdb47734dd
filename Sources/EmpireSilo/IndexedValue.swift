// IndexedValue: the entries of indexes, as records.
//
// An entry has a number that is in the order of the indexed values, and a hash. Numbers give
// ranges: values between two others have numbers between theirs, or the same ones. Number and hash
// together give equal values; what else has them is told apart by the row. Unknown values have no
// entry. A relation to several values has an entry for each of their ids.

import Dflat
import Empire

/// The value of a row in an index.
@IndexKeyRecord("table", "index", "order", "hash", "number")
struct IndexedValue {
  /// The table of the row.
  let table: String
  /// The storage name of the indexed property.
  let index: String
  /// See `IndexPlace`.
  let order: UInt64
  /// See `IndexPlace`.
  let hash: UInt64
  /// The number of the row.
  let number: Int64
  /// The hash in the row's key.
  let rowHash: UInt64
}

/// An index that has an entry for each value.
@IndexKeyRecord("table", "index")
struct CompleteIndex {
  /// The table of the rows.
  let table: String
  /// The storage name of the indexed property.
  let index: String

  /// Whether an index is known to be complete. If that cannot be read, it is not.
  static func exists(
    in context: Empire.TransactionContext, _ table: String, _ index: String
  ) throws -> Bool {
    do { return try !select(in: context, table: table, index: index).isEmpty } catch is StoreError {
      return false
    }
  }
}

/// Where a value is in an index.
struct IndexPlace: Hashable {
  /// Of a text the first eight bytes; of a number all that there is to say.
  let order: UInt64
  /// Of a text all of its bytes; otherwise 0.
  let hash: UInt64

  /// nil for NaN, which equals nothing and has no place in an order.
  init?(_ value: Dflat.Value) {
    switch value {
    case .bool(let value): self.init(order: value ? 1 : 0)
    case .integer(let value): self.init(order: EmpireSilo.order(of: value))
    case .unsigned(let value): self.init(order: value)
    case .real(let value):
      if value.isNaN { return nil }
      // Both zeros are equal. The greater a negative number, the smaller are its bits.
      let bits = value == 0 ? 0 : value.bitPattern
      self.init(order: bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    case .string(var text): self = text.withUTF8 { Self(text: $0) }
    }
  }

  /// The place of a stored value; nil if it is unknown.
  init?(_ value: ColumnValue, _ type: ValueType) {
    // The bytes may be no UTF-8.
    if case .text(let bytes) = value {
      self.init(text: bytes)
    } else if let value = value.constant(type) {
      self.init(value)
    } else {
      return nil
    }
  }

  private init(text: some Collection<UInt8>) {
    let start = text.prefix(8)
    let order = start.reduce(0) { $0 << 8 | UInt64($1) }
    self.init(order: order << UInt64(8 * (8 - start.count)), hash: textHash(text))
  }

  private init(order: UInt64, hash: UInt64 = 0) {
    self.order = order
    self.hash = hash
  }
}
