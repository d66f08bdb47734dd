// Fields are readable under their own names, whatever these are.

import Dflat

func check(_ condition: Bool, _ what: String) {
  if !condition { print("not so: \(what)") }
}

typealias E = Odd.Everything

let object = E(
  self: "me", init: 4, from: 5, table: "t", id: 7, description: "text", hashValue: 9, Type: 10,
  values: [1], build: 3, in: "in", default: Odd.Word(self: 1, init: 2), is: .`self`(Odd.Inner()),
  Any: .value("v"), ID: "ID", words: .rawValue, bits: [.`init`, .HIGH], `1st`: 1)
check(object.`self` == "me" && object.`init` == 4 && object.from == 5, "key fields")
check(object.id == 7 && object.ID == "ID", "id")
check(object.description == "text" && object.hashValue == 9, "members of conformances")
check("\(object)" != "text" && "\(object)".contains("me"), "it prints its fields all the same")
check(object.`Type` == 10 && object.`in` == "in" && object.`1st` == 1, "names")
check(object.`default`?.`self` == 1 && object.`default`?.`init` == 2, "structs")
check(object.words == .rawValue && object.bits == [.`init`, .HIGH], "enums")
check(Set([object, E.from(data: object.toData())]).count == 1, "hashing")
func key<T: Identifiable>(_ value: T) -> T.ID { value.id }
check(key(object) == CompositeKey("me", 4), "identity is the key")

var builder = Odd.EverythingBuilder(from: object)
builder.build = 4
let built: E = builder.build()
check(built.build == 4 && built.`self` == "me", "builders build")

let request = Odd.EverythingChangeRequest.creationRequest(object)
request.`self` = "b"
request.newValue = 3
request.values = [2]
check(request.`self` == "b" && request.newValue == 3 && request.values == [2], "requests")
check(Odd.Words.none.rawValue == 3, "cases")
func count<T: CaseIterable>(_: T.Type) -> Int { T.allCases.count }
check(count(Odd.Words.self) == 19 && count(Odd.AllCases.self) == 2, "all cases")

let conditions = [
  E.`self` == "a", E.`init` == 1, E.id == 3, E.ID_ == "x", E.Type_ == 3, E.from > 2,
  E.description == "d", E.`is`.match(Odd.Word.self), E.`is`.`as`(Odd.Inner.self).`self` == "x",
  E.words == Odd.Words.none,
]
check(conditions.count == 10, "queries")
print("all is well")
