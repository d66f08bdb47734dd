// Difficult names and rare types: what is decoded, and in which types it is stored.

import Dflat
import DflatGraphQL
import Foundation
import MemoryDflat

let json = """
  {"data": {
    "item": {"id": 7, "item": {"id": 8}, "items": [[{"id": 9, "key": "k"}, null], []],
      "node": {"__typename": "Other", "id": 3}, "data": {"id": 10, "init": 1.5}, "class": "self",
      "classes": [["default", "none"], null, ["newer"]], "status": {"text": "s"},
      "default": "d", "self": true, "init": 2.5, "Type": -3, "type": 4,
      "values": "2024-02-29T12:00:00.5Z", "encoder": {"b": [1], "a": null}, "hashValue": 6,
      "string": {"text": null}, "int": [{"text": "t", "grid": [[[1, null], null], null],
      "any": [true]}], "draft": "dr", "merge": "m", "member": "me", "selected": "se"},
    "query": {"id": 11, "default": "q"}, "text": {}}}
  """
let data = try ItemQuery.response(from: Data(json.utf8)).requireData()
let item = data.item!
precondition(item.self_ == true && item.init_ == 2.5 && item.Type_ == -3 && item.type == 4)
precondition(
  item.class == .self_ && item.classes == [[.default, .none_], nil, [.unknown("newer")]])
precondition(item.values_ == Date(timeIntervalSince1970: 1_709_208_000.5) && item.hashValue_ == 6)
precondition(item.encoder_ == .object(["a": .null, "b": .list([.int(1)])]))
precondition(item.int[0].grid == [[[1, nil], nil], nil] && item.items![0][1] == nil)
precondition(data.text!.textIfIncluded == .absent)

let dflat = MemoryWorkspace()
let change = try dflat.write(Item.self, Node.self) { try $0.store(data) }
precondition(change == BulkChange(inserted: 5 + 6), "\(change)")
let stored = dflat.find(Item.self, 7)!
precondition(stored.item == 8 && stored.items.map(\.values) == [[9], []] && stored.data == "10")
precondition(
  stored.class == .self && stored.classes.map(\.values) == [[.default, .none], []])
precondition(stored.status?.text == "s" && stored.`self` && stored.`init` == 2.5)
precondition(stored.int[0].grid.map { $0.values.map(\.values) } == [[[1]]])
precondition(stored.int[0].any == "[true]" && stored.draft == "dr" && stored.merge == "m")
precondition(stored.member == "me" && stored.selected == "se" && stored.hashValue == 6)
precondition(dflat.find(Item.self, 11)!.default == "q" && dflat.find(Item.self, 3) == nil)
precondition(dflat.find(Node.self, "3")!.subtype == .other(.init()))
guard case .item(let node)? = dflat.find(Node.self, "7")?.subtype else { fatalError("no item") }
precondition(node.default == "d" && node.`self` && node.class == "self" && node.node == "3")

// Nothing of one object gets into another one, and storing it again writes nothing.
precondition(dflat.find(Item.self, 8)! == Item(id: 8) && dflat.find(Item.self, 9)! == Item(id: 9))
precondition(dflat.find(Item.self, 10)! == Item(id: 10, init: 1.5))
let again = try dflat.write(Item.self, Node.self) { try $0.store(data) }
precondition(again == BulkChange(unchanged: 11) && dflat.find(Item.self, 7)! == stored, "\(again)")

// An object without a key cannot be found again, and is left out.
let nothing = try dflat.write(Item.self, Node.self) { txn in
  try txn.store(NodesQuery.Data.Item(id: nil, defaultIfIncluded: .value("x")))
}
precondition(nothing == BulkChange())

// A key in another type than the entity's, and one that does not fit.
let things = try dflat.write(Thing.self) { txn in
  try txn.store([ThingsQuery.Data(thing: .init(id: "12", name: "a")), .init(thing: nil)])
}
precondition(things == BulkChange(inserted: 1) && dflat.find(Thing.self, 12)!.name == "a")
do {
  try dflat.write(Thing.self) { txn in
    _ = try txn.store(
      ["13", "x1"].map { ThingsQuery.Data(thing: .init(id: $0, name: nil)) })
  }
  fatalError("stored a key that does not fit")
} catch let error as GraphQLKeyError {
  precondition(error == GraphQLKeyError(entity: "Thing", key: "x1"), "\(error)")
}
precondition(dflat.find(Thing.self, 13) == nil)

// Variables under difficult names, with dates.
let body = try ItemQuery(
  variables: .init(in: .value(.init(in: nil, class: .self_)), default: [.none_, .unknown("new")])
).body()
let text = String(decoding: body, as: UTF8.self)
precondition(
  text.hasSuffix(#""variables":{"default":["none","new"],"in":{"class":"self","in":null}}}"#), text)

print("all is well")
