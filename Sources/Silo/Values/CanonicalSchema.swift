// CanonicalSchema: how the properties of a type lie in a row.
//
// Each property has one slot, in the order of declaration. Rows are written in Dflat's canonical
// form: children in slot order, then the fields by descending size; a constant default is left out.

package import Dflat
import FlatBuffersRuntime

/// A property of a stored type. For generated code.
public struct CanonicalProperty: Sendable {
  /// What `@Indexed` and `@Unique` ask for.
  public enum Index: Sendable {
    /// No index.
    case none
    /// An index.
    case indexed
    /// An index whose values are unique.
    case unique
    /// An index of the elements, in a table of its own.
    case elements
  }

  let name: String
  let form: PropertyForm
  /// Whether a value at the default is not written.
  let isLeftOut: Bool
  let index: Index
  let target: (@Sendable () -> EntitySchema)?

  /// A property.
  /// - Parameters:
  ///   - name: The name in Swift.
  ///   - type: The type.
  ///   - default: What an absent property reads as.
  ///   - isLeftOut: Whether a value at the default is not written, since the default never changes.
  ///     Of rows of earlier releases, the property may be absent in any case.
  ///   - index: The index that the property has.
  public init<P: PersistableProperty>(
    _ name: String, _ type: P.Type, default: P? = nil, isLeftOut: Bool = true, index: Index = .none
  ) {
    self.name = name
    self.isLeftOut = isLeftOut
    form = type._form.with(default: `default`?._constant)
    target = type._form.target
    // Relations are indexed, to find what refers to a value.
    let isVector = if case .vector = form.kind { true } else { false }
    self.index = target == nil || index != .none ? index : isVector ? .elements : .indexed
  }
}

extension CanonicalProperty {
  /// The associated values of an enum's case.
  public init(_ name: String, table: @escaping @Sendable () -> CanonicalFields) {
    self.name = name
    form = PropertyForm(.table { table().layout })
    isLeftOut = true
    index = .none
    target = nil
  }
}

/// How a property's values are stored. For types of properties.
public struct PropertyForm: Sendable {
  let kind: Property.Kind
  let form: (any StoredForm.Type)?
  /// Whether elements of a vector are stored in this form, too, and not in tables of their own.
  let isElement: Bool
  /// The entity whose keys the property holds; nil if it is no relation.
  let target: (@Sendable () -> EntitySchema)?

  /// - Parameters:
  ///   - kind: The stored type.
  ///   - form: How values are converted, if the Swift type differs from the stored type.
  ///   - isElement: Whether elements of a vector are stored in this form, too.
  ///   - target: The entity whose keys the property holds.
  init(
    _ kind: Property.Kind, as form: (any StoredForm.Type)? = nil, isElement: Bool = false,
    target: (@Sendable () -> EntitySchema)? = nil
  ) {
    self.kind = kind
    self.form = form
    self.isElement = isElement
    self.target = target
  }

  /// The same form for the keys of an entity.
  func keys(of target: @escaping @Sendable () -> EntitySchema) -> PropertyForm {
    PropertyForm(kind, as: form, target: target)
  }

  /// The same form for values that are stored in tables of their own as elements of a vector.
  var boxedAsElement: PropertyForm { PropertyForm(kind, as: form, target: target) }

  func with(default constant: Dflat.Value?) -> PropertyForm {
    guard let constant else { return self }
    switch (kind, constant) {
    case (.scalar(let type, _), _): return PropertyForm(.scalar(type, default: constant), as: form)
    case (.string, .string(let text)): return PropertyForm(.string(default: text), as: form)
    default: return self
    }
  }

  /// The size of the field in its table.
  var size: Int { if case .scalar(let type, _) = kind { type.size } else { 4 } }

  /// The default as bits; nil if there is none.
  fileprivate var defaultBits: UInt64? {
    guard case .scalar(let type, let constant?) = kind else { return nil }
    return switch constant {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): UInt64(bitPattern: value) & mask
    case .unsigned(let value): value
    case .real(let value):
      type == .float ? UInt64(Float(value).bitPattern) : value.bitPattern
    case .string: nil
    }
  }

  private var mask: UInt64 { size == 8 ? .max : (1 << UInt64(size * 8)) - 1 }
}

/// The fields of a table: of a stored value, or of one inside it.
public final class CanonicalFields: Sendable {
  /// The layout, for Dflat.
  package let layout: TableLayout
  let names: [String]
  let defaultTexts: [String?]
  let hasDefaultTexts: Bool
  /// Where the value of a slot lies in its table.
  @usableFromInline
  struct Place: Sendable {
    let slot: Int
    let size: Int
    let hasDefault: Bool
    /// The default as bits.
    let defaultBits: UInt64
  }
  /// The slots, by descending size of their fields.
  @usableFromInline let placement: [Place]

  /// - Parameters:
  ///   - name: The name of the type.
  ///   - version: The version of the type, if it has one.
  ///   - key: The position of the key among the properties, if there is one.
  ///   - properties: The properties in the order of their slots.
  public init(
    _ name: String, version: String? = nil, key: Int? = nil, _ properties: [CanonicalProperty]
  ) {
    var forms = properties.map(\.form)
    if let key { forms[key] = forms[key].asKey }
    names = properties.map(\.name)
    layout = TableLayout(
      name, version: version, slots: forms.count,
      forms.indices.map { slot in
        Property(
          properties[slot].name, Self.offset(slot), forms[slot].kind, as: forms[slot].form
        ).exact
      })
    placement = forms.indices.sorted { (forms[$1].size, $0) < (forms[$0].size, $1) }.map { slot in
      let bits = properties[slot].isLeftOut ? forms[slot].defaultBits : nil
      return Place(
        slot: slot, size: forms[slot].size, hasDefault: bits != nil, defaultBits: bits ?? 0)
    }
    defaultTexts = forms.indices.map { slot in
      // The strings of a key are always written.
      if slot != key, properties[slot].isLeftOut, case .string(let text) = forms[slot].kind {
        text
      } else {
        nil
      }
    }
    hasDefaultTexts = defaultTexts.contains { $0 != nil }
  }

  /// The vtable offset of a slot.
  @inlinable
  static func offset(_ slot: Int) -> Int { 4 + 2 * slot }
}

extension PropertyForm {
  /// The same form for a key: an absent key is zero or empty, not unknown.
  fileprivate var asKey: PropertyForm {
    switch kind {
    case .scalar(let type, _):
      PropertyForm(
        .scalar(type, default: type == .uint64 ? .unsigned(0) : .integer(0)), as: form)
    case .string: PropertyForm(.string(default: ""), as: form)
    default: self
    }
  }
}

/// The description of a stored type: its table, version and properties. For generated code.
public final class CanonicalSchema: Sendable {
  /// The table without the version, as in `@Persistable(table:)`.
  public let name: String
  /// The version.
  package let version: Int
  /// The entity, for Dflat.
  package let entity: EntitySchema
  @usableFromInline let fields: CanonicalFields
  @usableFromInline let keyOffset: Int

  /// - Parameters:
  ///   - name: The table without the version.
  ///   - version: The version.
  ///   - type: The name of the type.
  ///   - id: The type of the id.
  ///   - isRetained: Whether the version is kept for migrations and tests only. The tables of its
  ///     relations belong to the newest version.
  ///   - properties: The properties in the order of their slots.
  public convenience init<ID: PersistableID>(
    _ name: String, version: Int, type: String, id: ID.Type, isRetained: Bool = false,
    _ properties: [CanonicalProperty]
  ) {
    self.init(
      name, version: version, type: type, id: id, isRetained: isRetained, properties,
      compoundIndexes: [])
  }

  /// - Parameters:
  ///   - name: The table without the version.
  ///   - version: The version.
  ///   - type: The name of the type.
  ///   - id: The type of the id.
  ///   - properties: The properties in the order of their slots.
  ///   - compoundIndexes: The slots of the columns of each index with several columns.
  init<ID: PersistableID>(
    _ name: String, version: Int, type: String, id: ID.Type, isRetained: Bool = false,
    _ properties: [CanonicalProperty], compoundIndexes: [[Int]]
  ) {
    self.name = name
    self.version = version
    guard let key = properties.firstIndex(where: { $0.name == "id" }) else {
      preconditionFailure("\(type) has no property 'id'")
    }
    var properties = properties
    properties[key] = CanonicalProperty("id", ID._Key.self)
    fields = CanonicalFields(type, version: "\(version)", key: key, properties)
    keyOffset = CanonicalFields.offset(key)
    func paths(_ index: CanonicalProperty.Index) -> [String] {
      properties.indices.filter { properties[$0].index == index && $0 != key }
        .map { "f\(CanonicalFields.offset($0))" }
    }
    entity = EntitySchema(
      table: "\(name)_v\(version)", layout: fields.layout, primaryKey: [keyOffset],
      indexes: paths(.indexed)
        + compoundIndexes.map { slots in
          slots.map { "x__f\(CanonicalFields.offset($0))" }.joined(separator: "__")
        },
      uniques: paths(.unique),
      elements: isRetained
        ? []
        : properties.indices.filter { properties[$0].index == .elements }
          .map { (CanonicalFields.offset($0), Self.elementTable(of: name, properties, $0)) },
      references: properties.indices.compactMap { slot in
        properties[slot].target.map {
          EntityReference(CanonicalFields.offset(slot), to: $0, onDeletion: .nothing)
        }
      })
  }
  /// `tasks__tags`; with another name than the property's if that could be taken for a second
  /// relation, or if it differs only in case from that of an earlier one: for SQLite both are one.
  private static func elementTable(
    of name: String, _ properties: [CanonicalProperty], _ slot: Int
  ) -> String {
    let property = properties[slot].name
    let isPlain =
      !property.hasPrefix("_") && !property.contains("__")
      && !properties[..<slot].contains {
        $0.index == .elements && $0.name.lowercased() == property.lowercased()
      }
    return "\(name)__\(isPlain ? property : "f\(CanonicalFields.offset(slot))")"
  }
}
