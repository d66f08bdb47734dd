// Slots: a schema that grows keeps what is stored readable.
//
// A field keeps its slot for ever. New fields, enum values and union members are appended; a field
// that no operation selects any more is deprecated, and the types that it needs stay.

import Platform

extension EntityModel {
  /// The same schema with the slot of each field, beginning at 0.
  var numbered: EntityModel {
    var model = self
    model.types = types.mapValues { type in
      guard case .table(let table) = type else { return type }
      return .table(numbered(table, from: nil))
    }
    model.root = numbered(root, from: nil)
    return model
  }

  /// This schema with the slots and versions of an older one, and with everything that is stored
  /// with that.
  func grown(from old: EntityModel) -> EntityModel {
    var merged = self
    for (name, type) in types {
      switch (type, old.types[name]) {
      case (.table(let table), .table(let older)?):
        merged.types[name] = .table(numbered(table, from: older))
      case (.table(let table), _): merged.types[name] = .table(numbered(table, from: nil))
      case (.enumeration(_, let values), .enumeration(_, let older)?):
        var next = (older.map(\.number).max() ?? -1) + 1
        var result = older
        for value in values where !older.contains(where: { $0.name == value.name }) {
          result.append(EnumValue(name: value.name, number: next))
          next += 1
        }
        merged.types[name] = .enumeration(name, result)
      case (.union(_, let members), .union(_, let older)?):
        merged.types[name] = .union(name, older + members.filter { !older.contains($0) })
      default: break
      }
    }
    // What deprecated fields and former members need; the rest is left out of the text.
    for (name, type) in old.types where types[name] == nil { merged.types[name] = type }
    merged.root = numbered(root, from: old.root)
    return merged
  }

  /// A table with the slots of an older one, new fields behind all others.
  private func numbered(_ table: Table, from old: Table?) -> Table {
    var result = table
    result.fields = []
    result.version = old?.version ?? table.version
    result.attributes = old?.attributes ?? table.attributes
    for field in old?.fields ?? [] {
      var kept = field
      if let current = table.fields.first(where: { $0.name == field.name }) {
        kept.type = current.type
        // What is stored without null would be read as something else.
        kept.isOptional =
          current.followsEarlier && kept.type == field.type ? field.isOptional : current.isOptional
        kept.attributes = current.attributes + Self.handWritten(field.attributes)
      } else {
        kept.attributes = [Attribute(name: "deprecated")]
      }
      result.fields.append(kept)
    }
    var next = (result.fields.compactMap(\.slot).max() ?? -1) + 1
    for field in table.fields where !result.fields.contains(where: { $0.name == field.name }) {
      var added = field
      // A union takes two slots; its number is that of the second one.
      let isUnion =
        if case .named(let name) = field.type, case .union = types[name] { true } else { false }
      added.slot = isUnion ? next + 1 : next
      next += isUnion ? 2 : 1
      result.fields.append(added)
    }
    return result
  }

  /// Without relations to other files, which do not matter for what is stored.
  var alone: EntityModel {
    var model = self
    model.includes = []
    for index in model.root.fields.indices {
      model.root.fields[index].attributes.removeAll {
        ["references", "ondelete", "inverse"].contains($0.name)
      }
    }
    return model
  }

  /// With another version, which no earlier schema of the entity has had: it depends on all of
  /// them.
  func renewed(after version: String) -> EntityModel {
    var model = self
    model.root.version = String(
      SHA256.hexadecimal("\(version),\(root.version)").prefix(16))
    return model
  }
}
