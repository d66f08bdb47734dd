// ApolloExpressions: Swift expressions that turn values of Apollo's into stored ones.

import DflatSchema
import GraphQLSchema

struct ApolloExpressions {
  let modeler: EntityModeler
  let selections: ApolloSelections
  private let reported = Reported()

  init(modeler: EntityModeler, selections: ApolloSelections) {
    self.modeler = modeler
    self.selections = selections
  }

  /// The selections of which something was reported.
  private final class Reported {
    var selectors: Set<String> = []
  }

  typealias Expression = SwiftExpression

  private var names: ApolloNames { selections.names }

  /// A type of the namespace in Swift.
  func swift(_ name: String) -> String {
    let type = typeName(QualifiedName(namespace: [modeler.entity.name], name: name))
    let namespace = Identifier.escaped(namespacePath([modeler.entity.name])[0])
    return "\(namespace).\(Identifier.escaped(type))"
  }

  /// The Swift type of a stored value.
  func type(_ stored: StoredType) -> String {
    switch stored {
    case .scalar(_, let name), .reference(_, let name): InterfaceConditions.swiftScalar(name)
    case .enumeration(let type), .table(let type): swift(type.name)
    case .compositeReference(_, let name), .wrapped(let name, _): swift(name)
    case .list(let element): "[\(type(element))]"
    }
  }

  /// The value of a field of an object of `type`, in `object`; nil if it is not selected.
  ///
  /// - Parameter need: Receives the places whose objects have to be turned into tables.
  func value(
    of field: OutputField, _ type: NamedType, _ object: String, _ place: ApolloPlace,
    need: (NamedType, ApolloPlace) -> Void
  ) -> Expression? {
    let stored = modeler.storedType(of: field.type)
    let ways = selections.ways(to: field.name, from: place, for: type)
    if stored.hasTable, let (way, other) = selections.separate(ways, from: place) {
      warn(of: other, beside: way, in: place)
    }
    let parts = ways.compactMap { way in
      selections.operations.definition(of: way.fields[0]).flatMap { definition in
        converted(
          Expression(
            text: way.value(in: object, names.property(way.responseKey)),
            isOptional: way.isOptional),
          definition.type, stored, Source(access: way, place: selections.child(way)), need)
      }
    }
    guard let first = parts.first else { return nil }
    if parts.count == 1 || !first.isOptional { return first }
    return .firstValue(of: parts, self.type(stored))
  }

  /// The selections from which a value comes, and the struct of its objects.
  struct Source {
    let access: ApolloAccess
    let place: ApolloPlace?
  }

  // MARK: Conversion

  private func converted(
    _ value: Expression, _ type: TypeReference, _ stored: StoredType, _ source: Source,
    _ need: (NamedType, ApolloPlace) -> Void
  ) -> Expression? {
    let isOptional = value.isOptional || !type.isNonNull
    let text = value.text
    let element = Expression(text: "$0", isOptional: false)
    switch stored {
    case .list(let inner):
      guard let elementType = type.element,
        let item = converted(element, elementType, inner, source, need)
      else { return nil }
      let list = isOptional ? "\(grouped(text))?" : text
      if item.text == "$0", !item.isOptional {
        return Expression(text: text, isOptional: isOptional)
      }
      return Expression(
        text: "\(list).\(item.isOptional ? "compactMap" : "map") { \(item.text) }",
        isOptional: isOptional)
    case .wrapped(let name, let inner):
      let plain = isOptional ? element : Expression(text: text, isOptional: false)
      guard let list = converted(plain, .nonNull(type.nullable), inner, source, need) else {
        return nil
      }
      let call = "\(swift(name))(\(StoredType.values): \(list.text))"
      return isOptional
        ? Expression(text: "\(grouped(text)).map { \(call) }", isOptional: true)
        : Expression(text: call, isOptional: false)
    case .reference(let entity, let keyType):
      return key(of: entity, keyType, in: Expression(text: text, isOptional: isOptional), source)
    // The command refuses such keys with Apollo's classes.
    case .compositeReference: return nil
    case .table(let table):
      guard let place = source.place else { return nil }
      return object(
        table, Expression(text: text, isOptional: isOptional), place, need)
    case .enumeration(let type):
      return call(swift(type.name), Expression(text: text, isOptional: isOptional))
    case .scalar(let scalar, let name):
      let value = Expression(text: text, isOptional: isOptional)
      if scalar.kind == .enumeration {
        return Expression(
          text: isOptional ? "\(grouped(text))?.rawValue" : "\(text).rawValue",
          isOptional: isOptional)
      }
      return ["Float", "Boolean", "ID", "String"].contains(scalar.name)
        ? value : call(InterfaceConditions.swiftScalar(name), value)
    }
  }

  /// An object as a table of the namespace.
  func object(
    _ table: NamedType, _ value: Expression, _ place: ApolloPlace,
    _ need: (NamedType, ApolloPlace) -> Void
  ) -> Expression? {
    guard table.kind == .object, place.type.isAbstract,
      let (property, narrower) = selections.narrower(place, for: table)
    else {
      need(table, place)
      return call(swift(table.name), value)
    }
    need(table, narrower)
    let text = value.isOptional ? "\(grouped(value.text))?" : value.text
    return call(swift(table.name), Expression(text: "\(text).\(property)", isOptional: true))
  }

  /// The key of an object that is an entity; nil if it is not selected, which is reported.
  private func key(
    of entity: NamedType, _ keyType: String, in value: Expression, _ source: Source
  ) -> Expression? {
    guard let name = modeler.options.key(of: entity, in: modeler.schema)?.plainName,
      let place = source.place
    else { return nil }
    let ways = selections.ways(to: name, from: place, for: place.type)
    guard let way = ways.first, let definition = selections.operations.definition(of: way.fields[0])
    else {
      warn(of: entity, without: name, source.access.selector)
      return nil
    }
    let object = value.isOptional ? "\(grouped(value.text))?" : value.text
    let key = Expression(
      text: way.value(in: object, names.property(way.responseKey)),
      isOptional: value.isOptional || way.isOptional || !definition.type.isNonNull)
    let isText = ["ID", "String"].contains(definition.type.name)
    let isPlain = keyType == "string" ? isText : ["double", "bool"].contains(keyType)
    return isPlain ? key : call(InterfaceConditions.swiftScalar(keyType), key)
  }

  /// Reports that an entity is selected without its key.
  func warn(of entity: NamedType, without key: String, _ selector: NameSyntax) {
    modeler.sink.warning(
      "'\(selector.text)' selects '\(entity.name)' without its key '\(key)', so this reference to "
        + "it stays empty", at: selector.range, notes: [.hint("add '\(key)' to this selection")])
  }

  /// Reports that an object is not read as a whole if two conditions are true.
  private func warn(of other: ApolloAccess, beside way: ApolloAccess, in place: ApolloPlace) {
    let selector = other.selector
    guard reported.selectors.insert("\(selector.range)").inserted else { return }
    let conditions = [way, other].map { way in
      way.scope.conditions.sorted().map(names.directive).joined(separator: " ")
    }
    modeler.sink.warning(
      "what '\(selector.text)' selects under \(conditions[1]) is not read if "
        + "\(conditions[0]) selects '\(selector.text)', too: Apollo has no struct with both",
      at: selector.range,
      notes: [
        .hint(
          "add what has such a struct: '... \(conditions[0]) { ... \(conditions[1]) "
            + "{ \(selector.text) { __typename } } }'")
      ])
  }

  /// A call with a value that may be missing.
  func call(_ function: String, _ value: Expression) -> Expression {
    value.isOptional
      ? Expression(text: "\(grouped(value.text)).map { \(function)($0) }", isOptional: true)
      : Expression(text: "\(function)(\(value.text))", isOptional: false)
  }

  /// In parentheses if what follows would otherwise belong to an optional chain.
  private func grouped(_ text: String) -> String { text.contains("?") ? "(\(text))" : text }
}
