// The fields of the test schema `Item`, in requests, builders and objects.

import Dflat

/// One field: its vtable offset, how it is copied from an object to a request or builder, and how
/// it is compared.
public struct ItemField: Sendable {
  /// The vtable offset of the field.
  public let offset: Int
  /// Sets the field of a request to the value of an object.
  public let set: @Sendable (Kit.ItemChangeRequest, Kit.Item) -> Void
  /// Sets the field of a builder to the value of an object.
  public let build: @Sendable (inout Kit.ItemBuilder, Kit.Item) -> Void
  /// Whether a request and an object have the same value; NaN equals NaN.
  public let reads: @Sendable (Kit.ItemChangeRequest, Kit.Item) -> Bool
  /// Whether two objects have the same value.
  public let isSame: @Sendable (Kit.Item, Kit.Item) -> Bool

  init<Value>(
    _ name: String,
    _ request: any ReferenceWritableKeyPath<Kit.ItemChangeRequest, Value> & Sendable,
    _ builder: any WritableKeyPath<Kit.ItemBuilder, Value> & Sendable,
    _ item: any KeyPath<Kit.Item, Value> & Sendable
  ) {
    guard let property = Kit.Item._schema.layout.properties.first(where: { $0.name == name }) else {
      preconditionFailure("there is no field \(name)")
    }
    offset = property.offset
    set = { $0[keyPath: request] = $1[keyPath: item] }
    build = { $0[keyPath: builder] = $1[keyPath: item] }
    reads = { "\($0[keyPath: request])" == "\($1[keyPath: item])" }
    isSame = { "\($0[keyPath: item])" == "\($1[keyPath: item])" }
  }
}

extension ItemField {
  /// Every field; those of the key come first.
  public static let all = [
    ItemField("name", \.name, \.name, \.name),
    ItemField("serial", \.serial, \.serial, \.serial),
    ItemField("flag", \.flag, \.flag, \.flag),
    ItemField("tiny", \.tiny, \.tiny, \.tiny),
    ItemField("small", \.small, \.small, \.small),
    ItemField("short_number", \.shortNumber, \.shortNumber, \.shortNumber),
    ItemField("port", \.port, \.port, \.port),
    ItemField("number", \.number, \.number, \.number),
    ItemField("count", \.count, \.count, \.count),
    ItemField("long_number", \.longNumber, \.longNumber, \.longNumber),
    ItemField("big", \.big, \.big, \.big),
    ItemField("single", \.single, \.single, \.single),
    ItemField("real", \.real, \.real, \.real),
    ItemField("plain_flag", \.plainFlag, \.plainFlag, \.plainFlag),
    ItemField("plain_number", \.plainNumber, \.plainNumber, \.plainNumber),
    ItemField("plain_big", \.plainBig, \.plainBig, \.plainBig),
    ItemField("plain_long", \.plainLong, \.plainLong, \.plainLong),
    ItemField("plain_real", \.plainReal, \.plainReal, \.plainReal),
    ItemField("plain_title", \.plainTitle, \.plainTitle, \.plainTitle),
    ItemField("maybe_flag", \.maybeFlag, \.maybeFlag, \.maybeFlag),
    ItemField("maybe_number", \.maybeNumber, \.maybeNumber, \.maybeNumber),
    ItemField("maybe_big", \.maybeBig, \.maybeBig, \.maybeBig),
    ItemField("maybe_real", \.maybeReal, \.maybeReal, \.maybeReal),
    ItemField("mood", \.mood, \.mood, \.mood),
    ItemField("maybe_mood", \.maybeMood, \.maybeMood, \.maybeMood),
    ItemField("wide", \.wide, \.wide, \.wide),
    ItemField("traits", \.traits, \.traits, \.traits),
    ItemField("title", \.title, \.title, \.title),
    ItemField("word", \.word, \.word, \.word),
    ItemField("badge", \.badge, \.badge, \.badge),
    ItemField("point", \.point, \.point, \.point),
    ItemField("box", \.box, \.box, \.box),
    ItemField("branch", \.branch, \.branch, \.branch),
    ItemField("pet", \.pet, \.pet, \.pet),
    ItemField("tags", \.tags, \.tags, \.tags),
    ItemField("numbers", \.numbers, \.numbers, \.numbers),
    ItemField("leaves", \.leaves, \.leaves, \.leaves),
    ItemField("pets", \.pets, \.pets, \.pets),
  ]

  /// Every field that is not part of the key.
  public static let values = all.dropFirst(2)
}
