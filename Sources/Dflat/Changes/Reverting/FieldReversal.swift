// FieldReversal: which values of a stored object go back to what they were.
//
// A value goes back if the changes have set it and it still is what they have set. A nested table,
// or a union with the same table as its member, is decided field by field, so that another field of
// it may have been changed meanwhile. Vectors and structs are one value.

import FlatBuffersRuntime

/// What becomes of a value.
enum FieldReversal {
  /// It stays as it is stored.
  case stays
  /// It becomes what it was before.
  case goesBack
  /// It is a table in which some values go back, by their vtable offsets.
  case merges([Int: FieldReversal])

  var changesNothing: Bool { if case .stays = self { true } else { false } }
}

/// Finds the values of an object that go back.
struct ReversalFinder {
  /// The Swift names of the fields that have been changed since to something else.
  private(set) var changedSince: [String] = []
  /// The Swift names of the fields that go back.
  private(set) var reverted: [String] = []
  /// The names of both, in the order of the schema.
  private(set) var concerned: [String] = []

  /// What becomes of the fields of a table, without those that stay.
  mutating func fields(
    _ layout: TableLayout, old: TableReader, new: TableReader, stored: TableReader,
    under path: String = ""
  ) -> [Int: FieldReversal] {
    var fields: [Int: FieldReversal] = [:]
    for property in layout.properties {
      let reversal = value(
        old.value(of: property), new.value(of: property), stored.value(of: property),
        named: path + property.swiftName)
      if !reversal.changesNothing { fields[property.offset] = reversal }
    }
    return fields
  }

  private mutating func value(
    _ old: LayoutValue, _ new: LayoutValue, _ stored: LayoutValue, named name: String
  ) -> FieldReversal {
    if old.equals(new) || stored.equals(old) { return .stays }
    if stored.equals(new) {
      reverted.append(name)
      concerned.append(name)
      return .goesBack
    }
    guard let (layout, before) = old.nestedTable, let (_, after) = new.nestedTable,
      let (_, now) = stored.nestedTable, old.tag == new.tag, old.tag == stored.tag
    else {
      changedSince.append(name)
      concerned.append(name)
      return .stays
    }
    let fields = fields(layout, old: before, new: after, stored: now, under: name + ".")
    return fields.isEmpty ? .stays : .merges(fields)
  }
}

extension LayoutValue {
  /// The table that the value is, by itself or as the member of a union.
  fileprivate var nestedTable: (TableLayout, TableReader)? {
    switch self {
    case .table(let layout, let table): (layout, table)
    case .union(let member, let union): union.value(member.kind).nestedTable
    default: nil
    }
  }

  /// The tag of a union's member.
  fileprivate var tag: UInt8? {
    if case .union(let member, _) = self { member.tag } else { nil }
  }
}

extension FlatBufferBuilder {
  /// Writes a value of which something goes back.
  func encode(
    _ reversal: FieldReversal, old: LayoutValue, stored: LayoutValue
  ) -> EncodedValue {
    switch reversal {
    case .stays: return encode(stored)
    case .goesBack: return encode(old)
    case .merges(let fields):
      guard let (layout, before) = old.nestedTable, let (_, now) = stored.nestedTable else {
        preconditionFailure("fields go back in a value that is no table")
      }
      let table = layout.write(to: self) { property in
        encode(
          fields[property.offset] ?? .stays, old: before.value(of: property),
          stored: now.value(of: property))
      }
      return stored.tag.map { .union(tag: $0, table) } ?? .offset(table)
    }
  }
}
