// ApolloSelections+Ways: how fields are reached from an object of Apollo's.

import GraphQLSchema

extension ApolloSelections {
  /// All ways to fields of a place's objects that are of `type`, the shorter ones first.
  func fields(of place: ApolloPlace, for type: NamedType) -> [ApolloAccess] {
    if let known = place.fields[type.name] { return known }
    let fields = findFields(of: place, for: type)
    place.fields[type.name] = fields
    return fields
  }

  private func fields(
    of place: ApolloPlace, for type: NamedType, named name: String
  ) -> [ApolloAccess] {
    let known = place.fieldsByName[type.name]
    let groups = known ?? Dictionary(grouping: fields(of: place, for: type), by: \.name)
    if known == nil { place.fieldsByName[type.name] = groups }
    return groups[name] ?? []
  }

  private func findFields(of place: ApolloPlace, for type: NamedType) -> [ApolloAccess] {
    var result: [ApolloAccess] = []
    var pending = [(place: place, path: "", isOptional: false, scope: place.scope)]
    var seen: Set<String> = []
    var next = 0
    while next < pending.count {
      let (place, path, isOptional, scope) = pending[next]
      next += 1
      let conditions = scope.conditions.sorted().joined(separator: " ")
      guard seen.insert("\(place.swift)\(isOptional ? "?" : "") \(conditions)").inserted else {
        continue
      }
      let content = content(of: place)
      result += direct(in: place).map { access in
        var access = access
        access.path = path
        access.scope = scope
        access.isOptional = access.isOptional || isOptional
        return access
      }
      for (fragment, conditions, isConditional) in content.fragments {
        guard let inner = self.place(of: fragment) else { continue }
        let property = "\(path).fragments.\(names.property(of: fragment))"
        pending.append(
          (
            inner, property + (isConditional ? "?" : ""), isOptional || isConditional,
            scope.satisfying(conditions, inner.scope.types)
          ))
      }
      for fragment in content.narrowing {
        guard let inner = self.place(of: fragment), schema.isSubtype(type, of: inner.type) else {
          continue
        }
        pending.append((inner, "\(path).fragments.\(names.property(of: fragment))?", true, scope))
      }
      for (property, narrower) in content.narrower where admits(narrower, type) {
        pending.append(
          (
            narrower, "\(path).\(property)?", true,
            scope.satisfying(narrower.scope.conditions, narrower.scope.types)
          ))
      }
    }
    return result
  }

  /// The best ways to a field of a place's objects that are of `type`: up to one that always leads
  /// to it, or all. They have one response key. Where one leads to an object with more fields than
  /// another one, it comes first.
  func ways(
    to name: String, from place: ApolloPlace, for type: NamedType
  ) -> [ApolloAccess] {
    let all = fields(of: place, for: type, named: name)
    let key = all.contains { $0.responseKey == name } ? name : all.first?.responseKey
    let ways = all.filter { $0.responseKey == key }
    guard ways.first?.fields[0].selectionSet != nil, !names.isClassic else {
      return ways.first { !$0.isOptional }.map { [$0] } ?? ways
    }
    return inOrder(ways, from: place)
  }

  /// The ways to objects in Apollo iOS 1.x, the ones to those with the most first, without those
  /// that bring nothing new.
  private func inOrder(_ ways: [ApolloAccess], from place: ApolloPlace) -> [ApolloAccess] {
    // There are many ways and few kinds of them, if many fragments select the same objects.
    let kinds = ways.map(ApolloKind.init)
    let counts = kinds.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    // A way has nothing of those that are under other conditions, so few are compared if there are
    // many conditions.
    let common = place.scope.conditions
    let candidates = Dictionary(grouping: counts.keys) {
      $0.scope.conditions.subtracting(common).min()
    }
    var ranks: [ApolloKind: Int] = [:]
    for kind in counts.keys {
      for condition in [nil] + kind.scope.conditions.subtracting(common).map(Optional.some) {
        for other in candidates[condition] ?? [] where contains(other, in: kind, of: place) {
          ranks[kind, default: 0] += counts[other] ?? 0
        }
      }
    }
    let rank = kinds.map { ranks[$0] ?? 0 }
    var result: [ApolloAccess] = []
    // By their conditions, which are the same where two have the same.
    var known: [Set<String>: [ApolloKind]] = [:]
    for index in ways.indices.sorted(by: { (-rank[$0], $0) < (-rank[$1], $1) }) {
      let kind = kinds[index]
      let isKnown = known[kind.scope.conditions]?.contains {
        $0 == kind
          || contains(kind, in: $0, of: place) && satisfies(kind.scope, $0.scope)
      }
      if isKnown != true {
        result.append(ways[index])
        known[kind.scope.conditions, default: []].append(kind)
      }
      if !ways[index].isOptional { break }
    }
    return result
  }

  /// Two ways to objects that may both be there, while none leads to what both have: in Apollo iOS
  /// 1.x, no struct is under two conditions that are not inside of each other. Nil if there are no
  /// such ways.
  func separate(
    _ ways: [ApolloAccess], from place: ApolloPlace
  ) -> (ApolloAccess, ApolloAccess)? {
    // What is true already is not chosen by the program.
    guard ways.count > 1, !names.isClassic, place.scope.conditions.isEmpty else { return nil }
    let kinds = ways.map(ApolloKind.init)
    let fields = ways.map { way in
      child(way).map { Set(self.fields(of: $0, for: $0.type).map(\.name)) } ?? []
    }
    for (first, one) in kinds.enumerated() {
      for (second, other) in kinds.enumerated().dropFirst(first + 1)
      where !fields[second].isSubset(of: fields[first]) && areIndependent(one.scope, other.scope) {
        let both = one.scope.conditions.union(other.scope.conditions)
        let isRead = kinds.contains {
          $0.scope.conditions.isSubset(of: both) && contains(one, in: $0, of: place)
            && contains(other, in: $0, of: place)
        }
        if !isRead { return (ways[first], ways[second]) }
      }
    }
    return nil
  }

  /// Whether two scopes have conditions that may be true at the same time, and none has those of
  /// the other.
  private func areIndependent(_ scope: ApolloScope, _ other: ApolloScope) -> Bool {
    let conditions = scope.conditions.union(other.conditions)
    return !scope.conditions.isSubset(of: other.conditions)
      && !other.conditions.isSubset(of: scope.conditions)
      && !conditions.contains { conditions.contains("Not" + $0) }
      && scope.types.allSatisfy { type in
        other.types.allSatisfy { schema.overlap(type, $0) }
      }
  }

  /// Whether the object to which a way leads has everything that it has by another way: a struct
  /// has everything of wider forms of it, and that of a place what its named fragments have.
  private func contains(
    _ other: ApolloKind, in way: ApolloKind, of place: ApolloPlace
  ) -> Bool {
    (way.widest == place.widest.swift || way.widest == other.widest)
      && satisfies(way.scope, other.scope)
  }

  /// Whether everything that is true in the other scope is true in the first one.
  private func satisfies(_ scope: ApolloScope, _ other: ApolloScope) -> Bool {
    other.conditions.isSubset(of: scope.conditions)
      && other.types.allSatisfy { isOf($0, scope) }
  }
}

/// What is the same for all ways to objects that have the same.
private final class ApolloKind: Hashable {
  /// The struct of which that of the field is a narrower form.
  let widest: String
  let scope: ApolloScope
  private let types: Set<String>

  init(_ way: ApolloAccess) {
    widest = way.place.widest.swift
    scope = way.scope
    types = Set(way.scope.types.map(\.name))
  }

  static func == (left: ApolloKind, right: ApolloKind) -> Bool {
    left.widest == right.widest && left.scope.conditions == right.scope.conditions
      && left.types == right.types
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(widest)
    hasher.combine(scope.conditions)
    hasher.combine(types)
  }
}
