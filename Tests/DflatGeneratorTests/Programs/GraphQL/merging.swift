// Random responses with errors and pages, stored and merged by a model of JSON values.
//
// The model is the text of the rules: only what is selected changes, null clears, a failed path
// leaves, a list is replaced unless it pages, and an element without a key is that of its position.

import Dflat
import DflatGraphQL
import Foundation
import MemoryDflat

// MARK: What is selected

indirect enum Shape {
  case text, number, bool
  /// A list whose elements may be null, or not.
  case list(Shape, mayBeNull: Bool)
  /// An object that is a part of another one; one with a key has another one for each key.
  case part([Selected], hasKey: Bool)
  case entity([Selected])
}

struct Selected {
  let key: String
  let name: String
  let shape: Shape
  var mayBeNull = true
  /// Whether only posts or only polls have it.
  var type: String?

  init(
    _ key: String, _ shape: Shape, name: String? = nil, mayBeNull: Bool = true, type: String? = nil
  ) {
    self.key = key
    self.name = name ?? key
    self.shape = shape
    self.mayBeNull = mayBeNull
    self.type = type
  }
}

func key() -> Selected { Selected("id", .text, mayBeNull: false) }
func users(_ fields: Selected...) -> Shape { .list(.entity([key()] + fields), mayBeNull: true) }
func part(_ fields: Selected...) -> Shape { .part(fields, hasKey: false) }
func item(_ fields: Selected...) -> Shape { .part([key()] + fields, hasKey: true) }

let one: [Selected] = [
  key(), Selected("name", .text), Selected("age", .number),
  Selected("best", .entity([key(), Selected("name", .text)])),
  Selected(
    "avatar",
    part(
      Selected("small", .text), Selected("size", part(Selected("width", .number, mayBeNull: false)))
    )),
  Selected("friends", users(Selected("age", .number))),
  Selected(
    "images",
    .list(
      part(Selected("small", .text), Selected("size", part(Selected("height", .number)))),
      mayBeNull: true)),
  Selected(
    "items",
    .list(item(Selected("title", .text), Selected("text", .text, type: "Post")), mayBeNull: true)),
  Selected("tags", .list(.text, mayBeNull: true)),
  Selected("grid", .list(.list(.number, mayBeNull: true), mayBeNull: true)),
  Selected(
    "repos",
    part(
      Selected("totalCount", .number),
      Selected(
        "edges",
        .list(
          part(
            Selected("cursor", .text), Selected("node", .entity([key(), Selected("name", .text)]))),
          mayBeNull: true)),
      Selected(
        "pageInfo",
        part(
          Selected("startCursor", .text), Selected("endCursor", .text),
          Selected("hasNextPage", .bool), Selected("hasPreviousPage", .bool))))),
]
let two: [Selected] = [
  key(), Selected("nick", .text, name: "name"),
  Selected(
    "avatar",
    part(
      Selected("large", .text),
      Selected(
        "size", part(Selected("width", .number, mayBeNull: false), Selected("height", .number))))),
  Selected("pals", users(Selected("name", .text)), name: "friends"),
  Selected("fans", .list(.entity([key()]), mayBeNull: false)),
  Selected("images", .list(part(Selected("large", .text)), mayBeNull: true)),
  Selected("pinned", item(Selected("title", .text), Selected("votes", .number, type: "Poll"))),
  Selected("items", .list(item(Selected("votes", .number, type: "Poll")), mayBeNull: true)),
  Selected(
    "mine",
    part(
      Selected("all", users(), name: "nodes"),
      Selected(
        "info",
        part(
          Selected("from", .text, name: "startCursor"), Selected("to", .text, name: "endCursor")),
        name: "pageInfo")), name: "repos"),
]

// MARK: Random responses

struct Random: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ (state >> 33)) &* 0xff51_afd7_ed55_8ccd
  }
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }
}

typealias Path = [GraphQLPathElement]

struct Responder {
  var random: Random
  var failed: [Path] = []
  /// How many fields fail: one in so many.
  let failures: Int

  /// nil if an error makes null of what is around it.
  mutating func value(_ shape: Shape, _ mayBeNull: Bool, _ path: Path) -> GraphQLValue? {
    if random.chance(failures) {
      failed.append(path)
      return mayBeNull ? .null : nil
    }
    if mayBeNull, random.chance(8) { return .null }
    return content(shape, path) ?? (mayBeNull ? .null : nil)
  }

  private mutating func content(_ shape: Shape, _ path: Path) -> GraphQLValue? {
    switch shape {
    case .text: return .string("t\(Int.random(in: 0..<50, using: &random))")
    case .number: return .int(.random(in: 1..<50, using: &random))
    case .bool: return .bool(.random(using: &random))
    case .list(let element, let mayBeNull):
      var list: [GraphQLValue] = []
      for index in 0..<Int.random(in: 0..<5, using: &random) {
        guard let value = value(element, mayBeNull, path + [.index(index)]) else { return nil }
        list.append(value)
      }
      return .list(list)
    case .part(let fields, let hasKey):
      let number = Int.random(in: 0..<5, using: &random)
      let type = number % 2 == 0 ? "Post" : "Poll"
      var object: [String: GraphQLValue] = hasKey ? ["__typename": .string(type)] : [:]
      for field in fields where field.type == nil || field.type == type {
        let isKey = hasKey && field.name == "id"
        let value =
          isKey
          ? .string("\(number)") : value(field.shape, field.mayBeNull, path + [.key(field.key)])
        guard let value else { return nil }
        object[field.key] = value
      }
      return .object(object)
    case .entity(let fields):
      var object: [String: GraphQLValue] = [:]
      for field in fields {
        let isKey = field.name == "id"
        let value =
          isKey
          ? .string("\(Int.random(in: 0..<6, using: &random))")
          : value(field.shape, field.mayBeNull, path + [.key(field.key)])
        guard let value else { return nil }
        object[field.key] = value
      }
      return .object(object)
    }
  }
}

// MARK: The model

struct Model {
  /// The fields of every user.
  var users: [String: [String: GraphQLValue]] = [:]
  var failed: Set<Path> = []
  /// The paths of lists that page, and of connections.
  var pages: [Path: GraphQLListUpdate] = [:]

  func hasFailure(_ path: Path) -> Bool { failed.contains { $0.starts(with: path) } }

  /// Merges an entity, and then those in it.
  mutating func mergeUser(_ value: GraphQLValue, _ fields: [Selected], _ path: Path) {
    guard case .object(let object) = value, case .string(let key)? = object["id"],
      !failed.contains(path)
    else { return }
    users[key] = merged(.object(users[key] ?? [:]), object, fields, path)
    for field in fields { mergeUsers(object[field.key], field.shape, path + [.key(field.key)]) }
  }

  private mutating func mergeUsers(_ value: GraphQLValue?, _ shape: Shape, _ path: Path) {
    if failed.contains(path) { return }
    switch (value, shape) {
    case (let value?, .entity(let fields)): mergeUser(value, fields, path)
    case (.object(let object), .part(let fields, _)):
      for field in fields { mergeUsers(object[field.key], field.shape, path + [.key(field.key)]) }
    case (.list(let list), .list(let element, _)):
      for (index, value) in list.enumerated() { mergeUsers(value, element, path + [.index(index)]) }
    default: break
    }
  }

  /// The fields of an object after those that are selected.
  private func merged(
    _ stored: GraphQLValue, _ object: [String: GraphQLValue], _ fields: [Selected], _ path: Path
  ) -> [String: GraphQLValue] {
    var result: [String: GraphQLValue] = [:]
    if case .object(let stored) = stored { result = stored }
    let hasElements = fields.contains { field in
      guard ["nodes", "edges"].contains(field.name), case .list(let list)? = result[field.name]
      else { return false }
      return !list.isEmpty
    }
    let keepsList = fields.contains { field in
      let inner = path + [.key(field.key)]
      return ["nodes", "edges"].contains(field.name)
        && (failed.contains(inner) || object[field.key] == .null && hasFailure(inner))
    }
    for field in fields {
      guard let value = object[field.key] else { continue }
      // What is said about the ends of a list stays with it.
      if field.name == "pageInfo", keepsList { continue }
      let inner = path + [.key(field.key)]
      var before = result[field.name] ?? .null
      if let update = pages[path], hasElements, field.name == "pageInfo",
        case .object(var info) = value, case .part(let infoFields, _) = field.shape
      {
        // The end that the page is not added to stays.
        let ends =
          update == .append
          ? ["startCursor", "hasPreviousPage"] : ["endCursor", "hasNextPage"]
        for infoField in infoFields where ends.contains(infoField.name) {
          info[infoField.key] = nil
        }
        if case .null = before { before = .object([:]) }
        result[field.name] = self.value(before, .object(info), field.shape, inner)
        continue
      }
      result[field.name] = self.value(before, value, field.shape, inner)
    }
    return result
  }

  private func value(
    _ stored: GraphQLValue, _ value: GraphQLValue, _ shape: Shape, _ path: Path
  ) -> GraphQLValue {
    if failed.contains(path) { return stored }
    if value == .null { return hasFailure(path) ? stored : .null }
    switch (value, shape) {
    case (.object(let object), .entity): return object["id"]!
    case (.object(let object), .part(let fields, let hasKey)):
      var base = stored
      if hasKey, Self.key(stored) != object["id"] { base = .object([:]) }
      var result = merged(base, object, fields, path)
      if let type = object["__typename"] { result["__typename"] = type }
      return .object(result)
    case (.list(let list), .list(let element, _)):
      var before: [GraphQLValue] = []
      if case .list(let list) = stored { before = list }
      let isPage = pages[path] != nil || pages[path.dropLast()] != nil
      if isPage { return .list(page(before, list, element, path)) }
      return .list(replaced(before, list, element, path))
    default: return value
    }
  }

  /// The key of a stored element: that of an entity, of an object, or of an edge's node.
  private static func key(_ stored: GraphQLValue) -> GraphQLValue? {
    switch stored {
    case .string: stored
    case .object(let object):
      if case .null? = object["node"] { nil } else { object["id"] ?? object["node"] }
    default: nil
    }
  }

  /// Whether an edge has no node because of an error.
  private func hasFailedNode(_ edge: GraphQLValue, _ path: Path) -> Bool {
    guard case .object(let edge) = edge, edge["node"] == .null else { return false }
    return hasFailure(path + [.key("node")])
  }

  private func replaced(
    _ before: [GraphQLValue], _ list: [GraphQLValue], _ shape: Shape, _ path: Path
  ) -> [GraphQLValue] {
    var isKeyed = false
    switch shape {
    case .entity: isKeyed = true
    case .part(let fields, let hasKey):
      isKeyed = hasKey || fields.contains { $0.name == "node" }
    default: break
    }
    func convert(_ index: Int, _ stored: GraphQLValue) -> GraphQLValue {
      value(stored, list[index], shape, path + [.index(index)])
    }
    func isThere(_ index: Int) -> Bool {
      let inner = path + [.index(index)]
      return list[index] != .null && !failed.contains(inner) && !hasFailedNode(list[index], inner)
    }
    /// Where an element is in the stored list. Null lists are not stored.
    func place(_ index: Int) -> Int {
      guard case .list = shape else { return index }
      return list[..<index].indices.count {
        list[$0] != .null || hasFailure(path + [.index($0)])
      }
    }
    let keys = list.indices.filter(isThere).compactMap { Self.key(convert($0, .null)) }
    return list.indices.compactMap { index in
      let inner = path + [.index(index)]
      let place = place(index)
      let atPlace = place < before.count ? before[place] : nil
      guard isThere(index) else {
        guard hasFailure(inner), let atPlace else { return nil }
        if isKeyed, let key = Self.key(atPlace), keys.contains(key) { return nil }
        return convert(index, atPlace)
      }
      guard hasFailure(inner) else { return convert(index, .null) }
      let own =
        isKeyed
        ? Self.key(convert(index, .null)).flatMap { key in before.first { Self.key($0) == key } }
        : atPlace
      return convert(index, own ?? .null)
    }
  }

  private func page(
    _ before: [GraphQLValue], _ list: [GraphQLValue], _ shape: Shape, _ path: Path
  ) -> [GraphQLValue] {
    var before = before
    var added: [GraphQLValue] = []
    for index in list.indices {
      let inner = path + [.index(index)]
      if list[index] == .null || failed.contains(inner) || hasFailedNode(list[index], inner) {
        continue
      }
      let new = value(.null, list[index], shape, inner)
      guard let key = Self.key(new) else {
        added.append(new)
        continue
      }
      if let place = before.firstIndex(where: { Self.key($0) == key }) {
        before[place] = value(before[place], list[index], shape, inner)
      } else if let place = added.firstIndex(where: { Self.key($0) == key }) {
        added[place] = value(added[place], list[index], shape, inner)
      } else {
        added.append(new)
      }
    }
    let update = pages[path] ?? pages[path.dropLast()]
    return update == .append ? before + added : added + before
  }
}

// MARK: What is stored

func text(_ value: String?) -> GraphQLValue { value.map { .string($0) } ?? .null }
/// Null is stored as 0 and as false.
func number(_ value: Int64?) -> GraphQLValue { value.map { $0 == 0 ? .null : .int($0) } ?? .null }

func image(_ image: User.Image) -> GraphQLValue {
  .object([
    "small": text(image.small), "large": text(image.large),
    "size": image.size.map {
      .object(["width": number($0.width), "height": number($0.height)])
    } ?? .null,
  ])
}

func item(_ item: User.Item) -> GraphQLValue {
  switch item.subtype {
  case .post(let post):
    .object([
      "__typename": .string("Post"), "id": text(item.id), "title": text(post.title),
      "text": text(post.text),
    ])
  case .poll(let poll):
    .object([
      "__typename": .string("Poll"), "id": text(item.id), "title": text(poll.title),
      "votes": number(poll.votes),
    ])
  case nil: .null
  }
}

func list<Element>(_ list: [Element], _ value: (Element) -> GraphQLValue) -> GraphQLValue {
  .list(list.map(value))
}

func fields(_ user: User) -> GraphQLValue {
  .object([
    "id": text(user.id), "name": text(user.name), "age": number(user.age), "best": text(user.best),
    "avatar": user.avatar.map(image) ?? .null, "friends": list(user.friends) { text($0) },
    "fans": list(user.fans) { text($0) }, "images": list(user.images, image),
    "items": list(user.items, item), "pinned": user.pinned.map(item) ?? .null,
    "tags": list(user.tags) { text($0) },
    "grid": list(user.grid) { list($0.values) { number($0) } },
    "repos": user.repos.map { repos in
      .object([
        "totalCount": number(repos.totalCount), "nodes": list(repos.nodes) { text($0) },
        "edges": list(repos.edges) { .object(["cursor": text($0.cursor), "node": text($0.node)]) },
        "pageInfo": repos.pageInfo.map { info in
          .object([
            "startCursor": text(info.startCursor), "endCursor": text(info.endCursor),
            "hasNextPage": .bool(info.hasNextPage), "hasPreviousPage": .bool(info.hasPreviousPage),
          ])
        } ?? .null,
      ])
    } ?? .null,
  ])
}

/// Without what is the same as nothing, and null elements of lists.
func plain(_ value: GraphQLValue) -> GraphQLValue {
  switch value {
  case .object(let object):
    .object(
      object.mapValues(plain).filter {
        $0.value != .null && $0.value != .list([]) && $0.value != .bool(false)
      })
  case .list(let list): .list(list.filter { $0 != .null }.map(plain))
  default: value
  }
}

// MARK: Comparing

let seeds: [UInt64] =
  ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init).map { [$0] }
  ?? Array(1...(ProcessInfo.processInfo.environment["DFLAT_LONG"] == "1" ? 2000 : 60))
for seed in seeds {
  let dflat = MemoryWorkspace()
  var model = Model()
  var random = Random(state: seed &* 0x9e37_79b9_7f4a_7c15)
  for step in 0..<12 {
    let isOne = random.chance(2)
    let root = Selected("user", .entity(isOne ? one : two))
    var responder = Responder(random: random, failures: random.chance(3) ? 100_000 : 12)
    let user = responder.value(root.shape, true, [.key("user")]) ?? .null
    random = responder.random
    let errors = responder.failed.map { path in
      GraphQLValue.object([
        "message": .string("e"),
        "path": .list(
          path.map { element in
            switch element {
            case .key(let key): .string(key)
            case .index(let index): .int(Int64(index))
            }
          }),
      ])
    }
    let json = try JSONEncoder().encode(
      GraphQLValue.object(["data": .object(["user": user]), "errors": .list(errors)]))

    model.failed = Set(responder.failed)
    model.pages = [:]
    let updates: [GraphQLListUpdate] = (0..<3).map { _ in
      [.append, .prepend, .replace].randomElement(using: &random)!
    }
    let paths: [[GraphQLPathElement]] =
      isOne
      ? [["user", "friends"], ["user", "items"], ["user", "repos"]]
      : [["user", "pals"], ["user", "fans"], ["user", "mine"]]
    for (path, update) in zip(paths, updates) where update != .replace {
      model.pages[path] = update
    }
    model.mergeUser(user, isOne ? one : two, ["user"])

    try dflat.write(User.self) { txn in
      if isOne {
        let pages: [GraphQLPage<OneQuery.Data>] = [
          .init(\.user.friends, updates[0]), .init(\.user.items, updates[1]),
          .init(\.user.repos, updates[2]),
        ]
        _ = try txn.store(OneQuery.response(from: json), pages: pages)
      } else {
        let pages: [GraphQLPage<TwoQuery.Data>] = [
          .init(\.user.pals, updates[0]), .init(\.user.fans, updates[1]),
          .init(\.user.mine, updates[2]),
        ]
        _ = try txn.store(TwoQuery.response(from: json), pages: pages)
      }
    }
    let stored = dflat.fetch(for: User.self).all()
    let found = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, plain(fields($0))) })
    let expected = model.users.mapValues { plain(.object($0)) }
    guard found == expected else {
      print("SEED=\(seed), step \(step), pages \(updates)")
      print(String(decoding: json, as: UTF8.self))
      for key in Set(found.keys).union(expected.keys) where found[key] != expected[key] {
        let texts = [found[key], expected[key]].map { value in
          String(decoding: try! JSONEncoder().encode(value), as: UTF8.self)
        }
        print("\(key) is \(texts[0]), not \(texts[1])")
      }
      exit(1)
    }
  }
}
print("all is well")
