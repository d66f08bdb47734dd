// Which lists of an operation's responses page.
//
// Generated code gives each part of a response a property for every list in it that has keys, so
// that a key path such as \.user.repos names one, or does not compile. The value at the end of the
// key path is where the list is, by the keys of the response.

/// How a list of a response is merged into the stored list.
public enum GraphQLListUpdate: Hashable, Sendable {
  /// The list is the new one.
  case replace
  /// New elements come after those that are stored.
  case append
  /// New elements come before those that are stored.
  case prepend
}

/// One step on the way to a list.
enum GraphQLListStep: Hashable, Sendable {
  case key(String)
  /// Every element of a list.
  case elements
}

/// The lists in a part of an operation's responses that pages can be added to. Generated code has a
/// property for each: `\.user.repos`.
public struct GraphQLLists<Part>: Sendable {
  let steps: [GraphQLListStep]

  init(steps: [GraphQLListStep] = []) { self.steps = steps }

  /// The lists in an object, for generated code.
  ///
  /// - Parameters:
  ///   - key: The object's key in the response.
  ///   - levels: How many lists are around the object.
  public func _object<Inner>(_ key: String, levels: Int = 0) -> GraphQLLists<Inner> {
    GraphQLLists<Inner>(
      steps: steps + [.key(key)] + Array(repeating: .elements, count: levels))
  }

  /// The lists in the same object that are selected of some types only, for generated code.
  public func _view<View>() -> GraphQLLists<View> { GraphQLLists<View>(steps: steps) }

  /// A list, for generated code.
  public func _list<Element>(_ key: String) -> GraphQLList<Element> {
    let list = steps + [.key(key)]
    return GraphQLList(
      place: GraphQLListPlace(steps: list, keys: nil),
      inner: GraphQLLists<Element>(steps: list + [.elements]))
  }

  /// An object with a page of a list, for generated code.
  ///
  /// - Parameters:
  ///   - key: The object's key in the response.
  ///   - lists: The keys of its lists: edges, nodes or both.
  ///   - info: The key of what is said about the page's ends; nil if it is not selected.
  ///   - start: The keys of what is said about the page's start.
  ///   - end: The keys of what is said about the page's end.
  public func _connection<Inner>(
    _ key: String, _ lists: [String], _ info: String?, start: [String], end: [String]
  ) -> GraphQLList<Inner> {
    let object = steps + [.key(key)]
    let keys = GraphQLListPlace.ConnectionKeys(lists: lists, info: info, start: start, end: end)
    return GraphQLList(
      place: GraphQLListPlace(steps: object, keys: keys), inner: GraphQLLists<Inner>(steps: object))
  }
}

/// A list of an operation's responses that pages can be added to, such as `\.user.repos`. The lists
/// in its elements follow: `\.user.repos.issues` is the issues of every repository.
@dynamicMemberLookup
public struct GraphQLList<Part>: Sendable {
  let place: GraphQLListPlace
  let inner: GraphQLLists<Part>

  /// The lists in its elements, or in the object that has the list.
  public subscript<Value>(dynamicMember path: KeyPath<GraphQLLists<Part>, Value>) -> Value {
    inner[keyPath: path]
  }
}

/// How one list of a response is merged into what is stored.
///
///     try txn.store(response, pages: [.append(\.user.repos), .prepend(\.user.messages)])
public struct GraphQLPage<Data>: Sendable {
  let place: GraphQLListPlace

  /// Creates a page of a list.
  public init<Part>(
    _ list: KeyPath<GraphQLLists<Data>, GraphQLList<Part>>, _ update: GraphQLListUpdate
  ) {
    var place = GraphQLLists<Data>()[keyPath: list].place
    place.update = update
    self.place = place
  }

  /// A list whose new elements come after those that are stored.
  public static func append<Part>(
    _ list: KeyPath<GraphQLLists<Data>, GraphQLList<Part>>
  ) -> Self { Self(list, .append) }

  /// A list whose new elements come before those that are stored.
  public static func prepend<Part>(
    _ list: KeyPath<GraphQLLists<Data>, GraphQLList<Part>>
  ) -> Self { Self(list, .prepend) }
}

/// Where a list is in a response, and how it is merged.
struct GraphQLListPlace: Hashable, Sendable {
  /// The keys in an object that has a page of a list.
  struct ConnectionKeys: Hashable, Sendable {
    let lists: [String]
    let info: String?
    let start: [String]
    let end: [String]
  }

  /// The way to the list, or to the object that has it.
  let steps: [GraphQLListStep]
  /// nil if the list is not in an object of its own.
  let keys: ConnectionKeys?
  var update = GraphQLListUpdate.replace

  /// Adds the rules that it means.
  func add(to root: MergeRuleNode) {
    if update == .replace { return }
    let node = steps.reduce(root) { $0.child($1) }
    guard let keys else { return node.setUpdate(update) }
    for list in keys.lists { node.child(.key(list)).setUpdate(update) }
    guard let info = keys.info else { return }
    for key in update == .append ? keys.start : keys.end {
      node.child(.key(info)).leaveOtherEnd(key)
    }
  }
}
