// Derives Swift names from schema names.
//
// The generator uses these names, and the compiler checks that they are unique in each scope, so
// both take them from here. Only ASCII is changed. The result may be a Swift keyword, which the
// generator has to escape. A `swift_name` replaces all of this (Model/SwiftNames.swift).

/// The Swift name of a type, field, enum value or union member.
///
/// An underscore followed by another character is dropped, and that character becomes upper case. A
/// trailing underscore stays, and so does the case of the first letter: `is_pinned` becomes
/// `isPinned`, `Post` stays `Post`, `TWO_PARTS` becomes `TWOPARTS`.
public func camel(_ name: String) -> String {
  var result: [UInt8] = []
  result.reserveCapacity(name.utf8.count)
  let bytes = Array(name.utf8)
  var index = 0
  while index < bytes.count {
    if bytes[index] == UInt8(ascii: "_"), index + 1 < bytes.count {
      result.append(upperCased(bytes[index + 1]))
      index += 2
    } else {
      result.append(bytes[index])
      index += 1
    }
  }
  return String(decoding: result, as: UTF8.self)
}

/// The Swift name of a type: that of `camel(_:)`, with an underscore behind names that Swift code
/// could not use.
public func typeName(_ name: QualifiedName) -> String {
  usable(camel(name.name), isNested: !name.namespace.isEmpty)
}

/// The Swift names of the enums that serve as a namespace, from the outermost: the components
/// themselves, with an underscore behind names that Swift code could not use.
public func namespacePath(_ namespace: [String]) -> [String] {
  namespace.enumerated().map { usable($1, isNested: $0 > 0) }
}

/// The name, or with an underscore if Swift never finds a type under it: `self` is a variable, and
/// `Shop.Type` is the metatype of `Shop`.
private func usable(_ name: String, isNested: Bool) -> String {
  let isMetatype = isNested && ["Type", "Protocol"].contains(name)
  return isMetatype || name == "self" ? name + "_" : name
}

/// The Swift case of an enum value: `Light_Blue` becomes `lightBlue`; `HIGH`, which has no
/// lower-case letter, stays.
public func enumCaseName(_ value: String) -> String {
  lowerCasedFirst(unlessAllCapitals: camel(value))
}

/// The Swift case of a union member: `TextBlock` becomes `textBlock`; a name in capitals stays.
public func unionCaseName(_ member: String) -> String {
  lowerCasedFirst(unlessAllCapitals: camel(member))
}

private func lowerCasedFirst(unlessAllCapitals name: String) -> String {
  var bytes = Array(name.utf8)
  guard let first = bytes.first, bytes.contains(where: { $0 != upperCased($0) }) else {
    return name
  }
  if isUpper(first) { bytes[0] = first | 0x20 }
  return String(decoding: bytes, as: UTF8.self)
}

/// The Swift case of a union member whose type has a `swift_name`: `URLNote` becomes `urlNote`;
/// `URL` stays.
func caseName(ofType name: String) -> String {
  var bytes = Array(name.utf8)
  let capitals = bytes.prefix(while: isUpper).count
  guard capitals < bytes.count else { return name }
  // The last of several capitals begins the next word.
  for index in 0..<max(capitals - 1, min(capitals, 1)) { bytes[index] |= 0x20 }
  return String(decoding: bytes, as: UTF8.self)
}

private func isUpper(_ byte: UInt8) -> Bool {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
}

private func upperCased(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & ~0x20 : byte
}
