// What matters to other users of the schema: attributes, the file identifier, the file extension.

extension Comparer {
  /// Attributes that are compared by their effect instead.
  private static let known: Set<String> = [
    "deprecated", "required", "primary", "indexed", "unique", "index", "id", "v", "bit_flags",
    "force_align", "swift", "fulltext",
  ]

  mutating func compareAttributes(
    _ old: [Attribute], _ new: [Attribute], _ subject: String, _ oldPlace: SourcePosition,
    _ newPlace: SourcePosition
  ) {
    guard old != new else { return }
    var names: [String] = []
    for attribute in old + new
    where !Self.known.contains(attribute.name) && !names.contains(attribute.name) {
      names.append(attribute.name)
    }
    for name in names {
      let before = old.first { $0.name == name }
      let after = new.first { $0.name == name }
      if before == after { continue }
      let what =
        before == nil
        ? "has the attribute '\(name)' now"
        : after == nil
          ? "no longer has the attribute '\(name)'"
          : "has another value of the attribute '\(name)'"
      let last = subject.split(separator: ".").last ?? ""
      let isNested = name == "nested_flatbuffer" || name == "flexbuffer"
      report(
        .attributeChanged, isNested ? .caution : .compatible, subject, "'\(last)' \(what)",
        Self.effect(ofAttribute: name), oldPlace, newPlace)
    }
  }

  private static func effect(ofAttribute name: String) -> String {
    switch name {
    case "nested_flatbuffer", "flexbuffer":
      "to Dflat these are bytes, as before; whether stored ones are what programs now expect is not checked"
    case "swift_name":
      "nothing changes on disk, where there are no names; programs use the new name"
    case "exact":
      "nothing changes on disk; the command dflat tells an empty list from a missing one only with it"
    case "references", "inverse":
      "nothing changes on disk, where fields have keys as before; programs follow the new references and their rules"
    case "ondelete":
      "nothing changes on disk; programs with the new schema follow its rule when they delete objects"
    default: "Dflat stores and reads as before; it concerns code generated for other languages"
    }
  }

  /// The Swift types of a field: the stored values stay the same, but may be read as another type.
  mutating func compareSwiftTypes(
    _ old: FieldDefinition, _ new: FieldDefinition, _ subject: String
  ) {
    guard old.swiftType != new.swiftType else { return }
    func text(_ field: FieldDefinition) -> String {
      field.attributes.first { $0.name == "swift" }?.value.map { "'\($0)'" }
        ?? "that of its stored type"
    }
    let units = (old.swiftType?.unit, new.swiftType?.unit)
    let isOtherUnit =
      if let before = units.0, let after = units.1 { before != after } else { false }
    report(
      .attributeChanged, isOtherUnit ? .incompatible : .caution, subject,
      "'\(new.name)' has changed its Swift type from \(text(old)) to \(text(new))",
      isOtherUnit
        ? "stored numbers stay what they are and are read in another unit; add a field instead"
        : "what is stored stays as it is; what the new type cannot read is nil or its 'unreadable' value",
      old.position, new.position)
  }

  mutating func compareFiles() {
    guard let before = old.files.first, let after = new.files.first else { return }
    func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "none" }
    let subject = after.root?.description ?? ""
    if before.fileIdentifier != after.fileIdentifier {
      report(
        .fileIdentifierChanged, .compatible, subject,
        "the file identifier has changed from \(text(before.fileIdentifier)) to \(text(after.fileIdentifier))",
        "stored objects have none; other programs may look for it in buffers that they exchange",
        before.fileIdentifierPosition ?? old.start, after.fileIdentifierPosition ?? new.start)
    }
    if before.fileExtension != after.fileExtension {
      report(
        .fileExtensionChanged, .compatible, subject,
        "the file extension has changed from \(text(before.fileExtension)) to \(text(after.fileExtension))",
        "nothing that is stored depends on it", before.fileExtensionPosition ?? old.start,
        after.fileExtensionPosition ?? new.start)
    }
  }
}
