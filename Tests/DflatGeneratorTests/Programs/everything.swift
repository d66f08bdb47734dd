// Every kind of field goes through a buffer and back, and reads as its default when it is absent.

import Dflat

func check(_ condition: Bool, _ what: String) {
  if !condition { print("not so: \(what)") }
}

typealias T = Every.Thing

let empty = T.Everything(key: 1)
check(empty.aBool && empty.aByte == -128 && empty.aUbyte == 255, "small defaults")
check(empty.aLong == .min && empty.aUlong == .max, "long defaults")
check(empty.notANumber.isNaN && empty.infinite == .infinity, "nan and inf")
check(empty.negative == -.infinity, "minus inf")
check(
  empty.maybeBool == nil && empty.maybeLong == nil && empty.maybeWide == nil, "optional scalars")
check(empty.warm == .hot && empty.wide == .huge && empty.signed == .lowest, "enum defaults")
check(empty.usual == .cold && T.Weather().warmth == .cold, "the first value is the default")
check(empty.rights == [] && empty.moreRights == [.read, .run], "flags defaults")
check(empty.none == T.None.none && empty.some == T.None.some, "enum values called as in Optional")
check(empty.greeting == "say \"hi\"\n\\ ünï" && empty.plain == nil, "string defaults")
check(empty.bools == [] && empty.anys == [] && empty.any == nil, "no vectors, no union")
check(T.Everything.flatBuffersSchemaVersion == "3.0_b", "version")
check(T.Everything._schema.table == "every__thing__everything_v3_0_b", "table")

let segment = T.Segment(
  from: T.Point(x: 1, y: 2), weights: [7, 8, 9, 10], flags: [true], kinds: [.huge],
  corners: [T.Point(x: 3)])
let leaf = T.Leaf(name: "oak", size: 3)
let full = T.Everything(
  key: .max, aBool: false, aByte: 1, aFloat: 0.5, notANumber: 2, negative: 1, maybeBool: false,
  maybeLong: 0, maybeDouble: .nan, maybeWide: .small, warm: .cold, rights: T.Rights(rawValue: 0x82),
  none: .all, greeting: "", plain: "é", segment: segment, leaf: leaf, any: .also(leaf),
  bools: [true, false], longs: [.min, .max], doubles: [0.5], strings: ["", "x"],
  warmths: [.hot, .cold], rightses: [[.read, .write]], points: [T.Point(y: 4)],
  segments: [segment], leaves: [leaf, T.Leaf(name: "")],
  anys: [.empty(T.Empty()), .leaf(leaf), .also(leaf), .where(segment), .text("hello")])
let copy = T.Everything.from(data: full.toData())
check(copy == full && copy.hashValue == full.hashValue, "equality")
check(copy.toData() == full.toData(), "one content, one encoding")
check(copy.maybeBool == false && copy.maybeLong == 0 && copy.maybeWide == .small, "present zeros")
check(copy.rights.rawValue == 0x82, "bits that have no name")
check(copy.greeting == "", "an empty string is not the default")
check(copy.segment?.weights == [7, 8, 9], "arrays are cut")
check(copy.segment?.corners == [T.Point(x: 3), T.Point(), T.Point(), T.Point()], "and filled up")
check(copy.segment?.kinds == [.huge, .small], "arrays of enums")
check(copy.leaf == leaf && copy.leaves.count == 2, "tables")
check(copy.any == .also(leaf) && copy.any != .leaf(leaf), "aliases")
check(copy.anys == full.anys && copy.anys.count == 5, "vectors of unions")
check(copy.anys[4] == .text("hello") && copy.anys[3] != copy.anys[1], "strings in unions")
check(copy.strings == ["", "x"] && copy.warmths == [.hot, .cold], "vectors")

for warmth in [T.Warmth.cold, .hot] {
  let written = T.Everything(key: 2, usual: warmth, weather: T.Weather(warmth: warmth))
  let read = T.Everything.from(data: written.toData())
  check(read.usual == warmth && read.weather?.warmth == warmth, "enums without zero")
}

var builder = T.EverythingBuilder(from: full)
builder.segments = []
let changed = builder.build()
check(changed != full && changed.segments == [] && changed.anys == full.anys, "builder")
check(changed._rowid == -1, "built objects are not stored")

let request = T.EverythingChangeRequest.creationRequest(full)
check(request.warmths == full.warmths, "requests copy fields")
request.warm = .hot
check(request.warm == .hot, "requests can be changed")
check(T.Warmth.allCases == [.cold, .hot], "cases")
check(T.Rights.allCases.count == 3, "bits")
print("all is well")
