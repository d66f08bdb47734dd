// Records that several tests use.

import Empire
import Foundation

@IndexKeyRecord("city", "name")
struct Person: Equatable {
  let city: String
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
struct Tree: Equatable, Sendable {
  let name: String
}

@IndexKeyRecord("a", "b", "c")
struct Triple: Equatable {
  let a: Int
  let b: UInt
  let c: String
  var note: String?
}
