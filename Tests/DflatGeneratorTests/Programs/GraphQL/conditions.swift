// Conditions on fields that every type of an interface has.

import Dflat
import MemoryDflat

typealias C = Character

let dflat = MemoryWorkspace()
func store(_ dflat: MemoryWorkspace) throws {
  try dflat.write(C.self) { txn in
    try txn.insert(contentsOf: [
      C(id: "1", subtype: .human(C.Human(appearsIn: [.jedi], name: "Luke", rank: 7))),
      C(id: "2", subtype: .droid(C.Droid(appearsIn: [.newhope, .jedi], name: "R2-D2", rank: 3))),
      C(id: "3", subtype: .human(C.Human(name: "Han"))),
      C(id: "4"),
    ])
  }
}
try store(dflat)

@MainActor func ids(_ condition: Condition<C>) -> [String] {
  dflat.fetch(for: C.self).where(condition).map(\.id).sorted()
}

precondition(ids(C.name { $0 == "Luke" }) == ["1"])
precondition(ids(C.name { $0.hasPrefix("R") } || C.rank { $0 > 5 }) == ["1", "2"])
precondition(ids(C.subtype.rank { $0 == 3 } && C.id == "2") == ["2"])
precondition(ids(C.appearsIn { $0.contains(.jedi) }) == ["1", "2"])
precondition(ids(!C.name { $0 == "Luke" }) == ["2", "3", "4"])
print("all is well")
