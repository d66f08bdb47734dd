// FragmentConversions: how structures that spread a fragment become that of the fragment.
//
// A structure has all fields of the fragments that it spreads, so each has a property with the
// structure of the fragment. The property is optional if the conditions of the document, or a type
// condition, may leave the fragment out. There is none where the fields of the fragment cannot be
// recognized: where conditions leave out some of them deep inside, or where the operation has other
// views of the object than the fragment.

import GraphQLSchema

final class FragmentConversions {
  private let fragments: FragmentTypes
  private let types: ResponseTypes
  private let access: AccessLevel
  /// What is to be written into the file: properties that the first ones need.
  private var pending: [(conversion: Conversion, name: String)] = []
  /// The names of these properties.
  private var parts: [Conversion.ID: String?] = [:]

  init(fragments: FragmentTypes, types: ResponseTypes, access: AccessLevel) {
    self.fragments = fragments
    self.types = types
    self.access = access
    let writer = DataWriter(types: types, access: access)
    for fragment in fragments.types.values { writer.name(fragment.object, fragment.name) }
  }

  /// The files of all fragments.
  func files() -> [GeneratedFile] {
    fragments.types.values.sorted { $0.name < $1.name }.map { fragment in
      types.usesFoundation = false
      let writer = DataWriter(types: types, access: access)
      var body = SourceText()
      body.documentation([
        "The fields of the fragment `\(fragment.syntax.name.text)` on `\(fragment.object.type.name)`."
      ])
      writer.writeStruct(fragment.object, fragment.name, to: &body)
      writer.writeCoding(of: fragment.object, to: &body)
      write(fragment.object, to: &body)
      var text = SourceText.graphQLHeader(types, access, of: body.text)
      text.gap()
      return GeneratedFile(
        name: "\(fragment.name)_generated.swift", text: text.text + body.text)
    }
  }

  /// Writes the properties of all objects of a file.
  /// - Parameter root: The one that all others are inside of.
  func write(_ root: SelectedObject, to text: inout SourceText) {
    if fragments.types.isEmpty { return }
    parts = [:]
    writeProperties(in: root, to: &text)
    while let (conversion, name) = pending.popLast() {
      guard let content = content(of: conversion) else { continue }
      text.gap()
      text.block("nonisolated extension \(conversion.object.path)") { text in
        write(content, of: conversion, name, modifier: "fileprivate ", to: &text)
      }
    }
  }

  /// The collector of selections limits the depth.
  private func writeProperties(in object: SelectedObject, to text: inout SourceText) {
    writeProperties(of: object, to: &text)
    for child in object.children { writeProperties(in: child, to: &text) }
  }

  private func writeProperties(of object: SelectedObject, to text: inout SourceText) {
    let found = object.spreads.compactMap { spread -> (FragmentTypes.FragmentType, Conversion)? in
      guard let type = fragments.types[spread.name] else { return nil }
      return (type, Conversion(fragment: type.object, object: object, types: spread.types))
    }
    // A fragment that is spread for all objects needs no property for some of them.
    var seen: Set<String> = []
    let sorted =
      found.filter { $0.1.types == nil } + found.filter { $0.1.types != nil }
    let wanted = sorted.compactMap { type, conversion in
      content(of: conversion).flatMap { content in
        seen.insert(type.name).inserted ? (type, conversion, content) : nil
      }
    }
    if wanted.isEmpty { return }
    let taken = Set(
      object.fields.flatMap { [$0.property, $0.box ?? $0.stored] }
        + object.views.flatMap { [$0.property, $0.box] }
        + ["_visit", "_store"])
    let names = ResponseNames.members(wanted.map(\.0.syntax.name.text), avoiding: taken)
    text.gap()
    text.block("nonisolated extension \(object.path)") { text in
      for (name, (type, conversion, content)) in zip(names, wanted) {
        let none = content.bindings.isEmpty ? "" : "; nil if this does not have them"
        text.gap()
        text.documentation(["The fields of the fragment `\(type.syntax.name.text)`\(none)."])
        write(
          content, of: conversion, Identifier.escaped(name), modifier: access.modifier, to: &text)
      }
    }
  }

  private func write(
    _ content: Content, of conversion: Conversion, _ name: String, modifier: String,
    to text: inout SourceText
  ) {
    let path = conversion.fragment.path
    let optional = content.bindings.isEmpty ? "" : "?"
    text.property("\(modifier)var \(name)", path + optional) { text in
      if content.bindings.isEmpty { return text.list("\(path)(", content.arguments, ")") }
      let guarded = "guard " + content.bindings.joined(separator: ", ")
      if text.fits(guarded + " else { return nil }") {
        text.line(guarded + " else { return nil }")
      } else {
        for (index, binding) in content.bindings.enumerated() {
          let end = index == content.bindings.count - 1 ? "" : ","
          text.line((index == 0 ? "guard " : "  ") + binding + end)
        }
        text.line("else { return nil }")
      }
      text.list("return \(path)(", content.arguments, ")")
    }
  }

  // MARK: Content

  /// A structure of a fragment that another structure has the fields of.
  private struct Conversion {
    let fragment: SelectedObject
    let object: SelectedObject
    /// The object types of which there is one; nil for all.
    let types: Set<String>?

    struct ID: Hashable {
      let fragment: ObjectIdentifier
      let object: ObjectIdentifier
      let types: Set<String>?
    }
    var id: ID {
      ID(fragment: ObjectIdentifier(fragment), object: ObjectIdentifier(object), types: types)
    }
  }

  /// How a structure is made.
  private struct Content {
    /// Conditions; without them there is no such structure.
    var bindings: [String] = []
    var arguments: [String] = []
    /// Whether fields may be left out that the fragment always has.
    var isPartial = false

    mutating func require(_ condition: String) {
      if !bindings.contains(condition) { bindings.append(condition) }
    }
  }

  /// How a fragment's structure is made; nil if it cannot be.
  private func content(of conversion: Conversion) -> Content? {
    let (fragment, object) = (conversion.fragment, conversion.object)
    var content = Content()
    var views: [SelectedView] = []
    if let types = conversion.types {
      views = object.views.filter { $0.types.isSuperset(of: types) }.reversed()
      let isAlways = !object.type.isAbstract && types == Set(object.possible)
      guard isAlways || views.contains(where: { $0.types == types }) else { return nil }
      if let view = views.first(where: { $0.types == types }) { content.require(binding(of: view)) }
    }
    for field in fragment.fields {
      guard let value = value(of: field, conversion, views, &content) else { return nil }
      content.arguments.append("\(Identifier.label(field.stored)): \(value)")
    }
    for view in fragment.views {
      guard let value = value(of: view, conversion) else { return nil }
      content.arguments.append("\(Identifier.label(view.property)): \(value)")
    }
    for view in views {
      let isUsed = (content.bindings + content.arguments).contains {
        $0.hasPrefix("\(view.property).") || $0.contains(" \(view.property).")
      }
      if isUsed { continue }
      let test = "self.\(view.property) != nil"
      content.bindings = content.bindings.map { $0 == binding(of: view) ? test : $0 }
    }
    return content
  }

  private func binding(of view: SelectedView) -> String {
    "let \(view.property) = self.\(view.property)"
  }

  /// The value of a fragment's field; nil if it cannot be told.
  private func value(
    of field: SelectedField, _ conversion: Conversion, _ views: [SelectedView],
    _ content: inout Content
  ) -> String? {
    func same(_ fields: [SelectedField]) -> SelectedField? { fields.first { $0.key == field.key } }
    let view = views.first { same($0.object.fields) != nil }
    guard let selected = view.flatMap({ same($0.object.fields) }) ?? same(conversion.object.fields)
    else {
      if field.isAdded { return "nil" }
      // What tells types apart is not needed where there is only one.
      let possible = conversion.types ?? Set(conversion.object.possible)
      let isOnly = field.syntax == nil && possible.count == 1 && !field.isOptional
      return isOnly ? possible.first.map(Literal.string) : nil
    }
    if let view { content.require(binding(of: view)) }
    let base = view?.property ?? "self"
    if field.isIncludedOrNull {
      guard selected.isIncludedOrNull, let apply = self.conversion(of: selected, to: field) else {
        return nil
      }
      let stored = "\(base).\(selected.stored)"
      let mapped = apply(.nonNull(selected.definition.type.nullable), "$0")
      return mapped == "$0" ? stored : "\(stored).map { \(mapped) }"
    }
    guard let apply = self.conversion(of: selected, to: field) else { return nil }
    let value = "\(base).\(Identifier.escaped(selected.property))"
    if selected.isIncludedOrNull {
      content.isPartial = content.isPartial || !field.isConditional
      if !field.isConditional { content.require("\(base).\(selected.stored).isIncluded") }
    }
    let present = TypeReference.nonNull(selected.definition.type.nullable)
    if field.isOptional || !selected.isOptional {
      return apply(selected.isOptional ? selected.definition.type.nullable : present, value)
    }
    content.isPartial = true
    let local = Identifier.escaped(selected.property)
    content.require("let \(local) = \(value)")
    return apply(present, local)
  }

  /// How the value of a selected field becomes that of a fragment's field.
  private func conversion(
    of selected: SelectedField, to field: SelectedField
  ) -> ((TypeReference, String) -> String)? {
    guard let inner = field.object, let object = selected.object else {
      let (one, other) = (selected.definition.type, field.definition.type)
      let isSame =
        field.object == nil && selected.object == nil && one.name == other.name
        && one.listLevels == other.listLevels
      return isSame ? { $1 } : nil
    }
    guard selected.definition.type.listLevels == field.definition.type.listLevels else {
      return nil
    }
    if inner === object { return { $1 } }
    guard let name = part(Conversion(fragment: inner, object: object, types: nil))
    else { return nil }
    func apply(_ type: TypeReference, _ value: String) -> String {
      let optional = type.isNonNull ? "" : "?"
      guard let element = type.nullable.element else { return "\(value)\(optional).\(name)" }
      return "\(value)\(optional).map { \(apply(element, "$0")) }"
    }
    return apply
  }

  /// The value of a fragment's view; nil if it cannot be told.
  private func value(of view: SelectedView, _ conversion: Conversion) -> String? {
    let object = conversion.object
    let all = conversion.types ?? Set(object.possible)
    let types = all.intersection(view.types)
    if types.isEmpty { return "nil" }
    let isTold = object.views.contains { $0.types == types }
    // A type that the schema does not have yet may be another one.
    let isAll = types == all && (conversion.types != nil || !object.type.isAbstract)
    guard isTold || isAll else { return nil }
    return part(Conversion(fragment: view.object, object: object, types: types), isView: true)
      .map { "self.\($0)" }
  }

  /// The name of the property for a part of a fragment; nil if there is none.
  private func part(_ conversion: Conversion, isView: Bool = false) -> String? {
    if let known = parts[conversion.id] { return known }
    let content = content(of: conversion)
    // Where something is left out inside, it cannot be told that all of it is.
    let isWhole = content.map { !$0.isPartial && (isView || $0.bindings.isEmpty) } ?? false
    let name = isWhole ? "_fragmentPart\(parts.count)" : nil
    parts[conversion.id] = .some(name)
    if let name { pending.append((conversion, name)) }
    return name
  }
}
