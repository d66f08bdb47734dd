// Writes the structures that a response is decoded into.

import GraphQLSchema

final class DataWriter {
  let types: ResponseTypes
  let access: AccessLevel
  /// The names of all structures and properties. In a structure they hide others.
  private(set) var innerNames: Set<String> = []

  init(types: ResponseTypes, access: AccessLevel) {
    self.types = types
    self.access = access
  }

  // MARK: Names

  /// Gives an object and all in it their Swift names. The collector limits the depth.
  func name(_ object: SelectedObject, _ path: String) {
    object.path = path
    var taken: Set<String> = []
    // Local names of the coding methods and of the stored properties are not those of properties.
    let properties = ResponseNames.members(
      object.fields.map(\.key), avoiding: ["decoder", "encoder", "values"])
    innerNames.formUnion(properties)
    for index in object.fields.indices {
      object.fields[index].property = properties[index]
      let field = object.fields[index]
      guard let inner = field.inner else { continue }
      let key = field.definition.type.element == nil ? field.key : Singular.of(field.key)
      name(inner, path + "." + take(NameCase.pascal(key), &taken))
    }
    var members = Set(properties)
    func box(_ property: String) -> String {
      let name = Identifier.fresh("_" + property, avoiding: members)
      members.insert(name)
      return name
    }
    for index in object.fields.indices where object.fields[index].isBoxed {
      object.fields[index].box = box(object.fields[index].property)
    }
    for index in object.views.indices {
      let name = NameCase.pascal(object.views[index].name)
      var property = "as" + name
      while !members.insert(property).inserted { property += "_" }
      object.views[index].property = property
      object.views[index].box = box(property)
      innerNames.insert(property)
      self.name(object.views[index].object, path + "." + take("As" + name, &taken))
    }
  }

  private func take(_ name: String, _ taken: inout Set<String>) -> String {
    var name = name.first?.isNumber ?? true ? "_" + name : name
    if taken.contains(name) || types.reserved.contains(name) { name += "Object" }
    while !taken.insert(name).inserted { name += "_" }
    innerNames.insert(name)
    return name
  }

  // MARK: Structures

  /// The name of the type inside all lists.
  private func innermost(_ field: SelectedField) -> String {
    field.object?.name ?? types.written(field.definition.type.name)
  }

  private func type(_ field: SelectedField) -> String {
    types.present(field.definition.type, innermost(field)) + (field.isOptional ? "?" : "")
  }

  func writeStruct(_ object: SelectedObject, _ name: String, to text: inout SourceText) {
    text.block("\(access.modifier)nonisolated struct \(name): \(types.known("GraphQLObject"))") {
      text in
      for field in object.fields {
        text.documentation(comment(field))
        let property = "\(access.modifier)var \(Identifier.escaped(field.property)): \(type(field))"
        if let box = field.box {
          writeBox(box, property, isOptional: field.isOptional, innermost(field), to: &text)
          continue
        }
        guard field.isIncludedOrNull else {
          text.line(property)
          continue
        }
        text.line("\(property) { \(field.stored).value }")
        text.line("/// `\(field.key)`, if the conditions of the document include it.")
        let present = types.present(field.definition.type, innermost(field))
        text.line(
          "\(access.modifier)var \(field.stored): \(types.known("GraphQLNullable"))<\(present)>")
      }
      for view in object.views {
        text.documentation(["What is selected of \(names(view)) alone; nil for others."])
        let property = "\(access.modifier)var \(view.property): \(view.object.name)?"
        writeBox(view.box, property, isOptional: true, view.object.name, to: &text)
      }
      writeInitialiser(of: object, to: &text)
      for field in object.fields {
        guard let inner = field.inner else { continue }
        text.gap()
        text.documentation(["The selected fields of `\(inner.type.name)` in `\(field.key)`."])
        writeStruct(inner, inner.name, to: &text)
      }
      for view in object.views {
        text.gap()
        text.documentation(["The fields that are selected of \(names(view)) alone."])
        writeStruct(view.object, view.object.name, to: &text)
      }
    }
  }

  /// Writes a property whose value is in a box: a structure with all structures inside of it takes
  /// the compiler far more time and memory, since each copies everything in it.
  private func writeBox(
    _ box: String, _ property: String, isOptional: Bool, _ type: String, to text: inout SourceText
  ) {
    let name = types.known("GraphQLBox")
    text.block(property) { text in
      text.line("get { \(box)\(isOptional ? "?" : "").value }")
      let new = isOptional ? "newValue.map { \(name)($0) }" : "\(name)(newValue)"
      text.line("set { \(box) = \(new) }")
    }
    text.line("var \(box): \(name)<\(type)>\(isOptional ? "?" : "")")
  }

  /// Writes the memberwise initialiser, which without boxes is the compiler's.
  private func writeInitialiser(of object: SelectedObject, to text: inout SourceText) {
    var parameters: [String] = []
    var statements: [String] = []
    func add(_ label: String, _ type: String, _ box: String?) {
      let name = Identifier.escaped(label)
      let isOptional = type.hasSuffix("?")
      parameters.append("\(Identifier.label(label)): \(type)\(isOptional ? " = nil" : "")")
      guard let box else { return statements.append("self.\(name) = \(name)") }
      let new = types.known("GraphQLBox")
      statements.append(
        "self.\(box) = " + (isOptional ? "\(name).map { \(new)($0) }" : "\(new)(\(name))"))
    }
    for field in object.fields {
      let present = types.present(field.definition.type, innermost(field))
      let type =
        field.isIncludedOrNull ? "\(types.known("GraphQLNullable"))<\(present)>" : type(field)
      add(field.stored, type, field.box)
    }
    for view in object.views { add(view.property, view.object.name + "?", view.box) }
    if object.views.isEmpty, object.fields.allSatisfy({ $0.box == nil }) { return }
    text.gap()
    text.documentation(["Creates an object of a response from its fields."])
    text.function("init", parameters) { text in
      for statement in statements { text.statement(statement) }
    }
  }

  private func comment(_ field: SelectedField) -> [String] {
    if let description = field.definition.description {
      return description.commentLines
    }
    if field.key == "__typename" { return ["The name of the object's type."] }
    return ["The field `\(field.definition.name)`."]
  }

  private func names(_ view: SelectedView) -> String { "`\(view.name)`" }

  // MARK: Coding

  /// Writes how all structures are decoded, and which fields they have. Their views read the same
  /// JSON object.
  func writeCoding(of object: SelectedObject, to text: inout SourceText) {
    text.gap()
    text.block("nonisolated extension \(object.path)") { text in
      writeDecoding(of: object, to: &text)
      text.gap()
      writeFields(of: object, to: &text)
    }
    for child in object.children { writeCoding(of: child, to: &text) }
  }

  private func writeDecoding(of object: SelectedObject, to text: inout SourceText) {
    text.line("/// Decodes the selected fields.")
    text.block("\(access.modifier)init(from decoder: any \(types.known("Decoder"))) throws") {
      text in
      if !object.fields.isEmpty {
        text.line("let fields = try \(types.known("GraphQLFieldReader"))(decoder)")
      }
      for field in object.fields {
        text.statement(
          "self.\(field.box ?? Identifier.escaped(field.stored)) = \(decoding(of: field))")
      }
      for view in object.views {
        let names = view.types.sorted().map(Literal.string)
        let test =
          names.count == 1
          ? "self.__typename == \(names[0])"
          : "[\(names.joined(separator: ", "))].contains(self.__typename)"
        text.short(
          if: test, "self.\(view.box) = try \(types.known("GraphQLBox"))(from: decoder)")
      }
    }
  }

  /// The expression for a field that is decoded.
  private func decoding(of field: SelectedField) -> String {
    let (type, key) = (field.definition.type, Literal.string(field.key))
    guard field.object == nil, let wrapper = types.wrapper(type.name) else {
      return "try fields.\(method(field))(\(key))"
    }
    if type.nullable.element == nil, wrapper.name == "GraphQLText" {
      let method =
        field.isIncludedOrNull ? "nullableText" : field.isOptional ? "optionalText" : "text"
      return "try fields.\(method)(\(key))"
    }
    func unwrapped(_ expression: String, _ type: TypeReference) -> String {
      let optional = type.isNonNull ? "" : "?"
      guard let element = type.nullable.element else {
        return "\(expression)\(optional).\(wrapper.property)"
      }
      return "\(expression)\(optional).map { \(unwrapped("$0", element)) }"
    }
    let wrapped = types.present(type, types.known(wrapper.name))
    if field.isIncludedOrNull {
      return "(try fields.nullable(\(key)) as \(types.known("GraphQLNullable"))<\(wrapped)>)"
        + ".map { \(unwrapped("$0", .nonNull(type.nullable))) }"
    }
    let value =
      field.isOptional
      ? "(try fields.optional(\(key)) as \(wrapped)?)"
      : "(try fields.value(\(key)) as \(wrapped))"
    return unwrapped(value, field.isOptional ? type.nullable : .nonNull(type.nullable))
  }

  private func writeFields(of object: SelectedObject, to text: inout SourceText) {
    text.line("/// Shows every field to a visitor.")
    let parameters = [
      "_ fields: inout \(types.known("GraphQLFieldVisitor"))",
      "_ other: \(types.itself(object.path))",
    ]
    text.function("\(access.modifier)func _visit", parameters) { text in
      for field in object.fields {
        let name = field.box ?? Identifier.escaped(field.stored)
        text.list(
          "fields.\(method(field))(",
          [Literal.string(field.key), "self.\(name)", "other.\(name)"], ")")
      }
      // What is selected of fewer types has more of the same fields, and comes later.
      for view in object.views {
        text.list("fields.view(", ["self.\(view.box)", "other.\(view.box)"], ")")
      }
    }
  }

  /// Which function of a reader or visitor a field is for. Those for the usual types take the
  /// compiler less time than the general ones.
  private func method(_ field: SelectedField) -> String {
    if field.isIncludedOrNull { return "nullable" }
    let isOptional = field.isOptional
    let usual = ["String", "Int", "Double", "Bool"]
    let type = types.present(
      field.definition.type, types.leaf(field.definition.type.name))
    guard field.object == nil, usual.contains(type) else {
      return isOptional ? "optional" : "value"
    }
    return isOptional ? "optional\(type)" : type.lowercased()
  }
}

extension SelectedObject {
  /// The name of the Swift type without those around it.
  var name: String { path.split(separator: ".").last.map(String.init) ?? path }
}
