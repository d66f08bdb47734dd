// The names of types that only the compiler can find to be storable.

extension RecordDescription.Property {
  /// Whether the compiler has to check that the type can be stored.
  var isChecked: Bool { check != nil }
  /// The name of the type, if it is checked.
  var checkedType: String { "RecordTypes._\(position)" }

  /// The declaration of the name, and a call whose error says what to write.
  func check(isKey: Bool, _ type: String, _ access: String) -> [String] {
    let (role, check) = isKey ? ("StoredKey", "key") : ("StoredField", "field")
    return [
      "\(access)typealias _\(position) = Empire.\(role)<\(type)>",
      "private static let _check\(position): Void = Empire.StoredTypes.\(check)("
        + "Empire.StoredType<\(type)>.self)",
    ]
  }
}
