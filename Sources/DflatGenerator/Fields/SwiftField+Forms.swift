// Fields whose Swift type differs from the stored type: see StoredForm in the runtime.

import DflatSchema

extension SwiftField {
  /// The type that the `swift` attribute names; for a vector, the type of its elements, except for
  /// `Data`.
  var swiftType: String? {
    switch definition.swiftType {
    case .date: names.foundation("Date")
    case .duration: names.swift("Duration")
    case .uuid: names.foundation("UUID")
    case .url: names.foundation("URL")
    case .decimal: names.foundation("Decimal")
    case .data: names.foundation("Data")
    case .int: names.swift("Int")
    case .program(let module, let name): (module.map { $0 + "::" } ?? "") + name
    case nil: nil
    }
  }

  /// The module of the type, unless it is the standard library or the program's own.
  var module: String? {
    switch definition.swiftType {
    case .date, .uuid, .url, .decimal, .data: "Foundation"
    case .program(let module, _): module
    case .duration, .int, nil: nil
    }
  }

  /// The type that converts stored values; nil if values are stored as they are, and for `Data`.
  var form: String? {
    guard let swiftType else { return nil }
    switch (definition.swiftType, element) {
    case (.data, _), (nil, _): return nil
    case (.date, .scalar(.double)): return names.dflat("DateSecondsForm")
    case (.duration, .scalar(.double)): return names.dflat("DurationSecondsForm")
    case (.date(let unit), _): return "\(names.dflat("DateForm"))<\(self.unit(unit))>"
    case (.duration(let unit), _): return "\(names.dflat("DurationForm"))<\(self.unit(unit))>"
    case (.int, .scalar(let scalar)):
      return "\(names.dflat("IntForm"))<\(names.swift(scalar.swiftName))>"
    case (.int, _), (.uuid, _), (.url, _), (.decimal, _), (.program, _):
      return "\(names.dflat("CustomRepresentation"))<\(swiftType)>"
    }
  }

  /// The form as the argument of a call; empty without a form.
  var formArgument: String { form.map { ", as: \($0).self" } ?? "" }

  /// The type of a vector's elements, or of the field.
  private var element: FieldType {
    if case .vector(let element) = definition.type { element } else { definition.type }
  }

  private func unit(_ unit: SwiftType.TimeUnit) -> String {
    let name = unit.rawValue
    return "\(names.dflat("TimeUnits")).\(name.prefix(1).uppercased())\(name.dropFirst())"
  }

  /// The value, read from a table or struct.
  func read(from reader: String, as form: String) -> String {
    let at = "at: \(offset)"
    if case .vector = definition.type { return "\(reader).values(\(at), as: \(form).self)" }
    if isOptional || isInStruct { return "\(reader).value(\(at), as: \(form).self)" }
    return "\(reader).value(\(at), default: \(storedDefault), as: \(form).self)"
  }

  /// The checks that a value fits the field of a struct; none if every value fits.
  var conversionFailures: [String] {
    let name = Literal.string(name)
    switch definition.swiftType {
    case .date, .duration, .int:
      return form.map { ["Self._conversionFailure(\(property), as: \($0).self, \(name))"] } ?? []
    default: break
    }
    switch definition.type {
    case .structure(let inner) where mayNotConvert(inner):
      return ["\(property)._conversionFailure"]
    case .array(let element, let count):
      let surplus = "Self._conversionFailure(\(property), count: \(count), \(name))"
      guard case .structure(let inner) = element, mayNotConvert(inner) else { return [surplus] }
      return [surplus, "\(property).lazy.compactMap(\\._conversionFailure).first"]
    default: return []
    }
  }

  private func mayNotConvert(_ name: QualifiedName) -> Bool {
    guard let structure = names.structure(name) else { return false }
    return structure.fields.contains { field in
      switch (field.swiftType, field.type) {
      case (.date, _), (.duration, _), (.int, _): true
      case (_, .structure(let inner)): mayNotConvert(inner)
      case (_, .array): true
      default: false
      }
    }
  }
}
