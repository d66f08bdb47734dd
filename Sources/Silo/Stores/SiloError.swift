// SiloError: what a program did wrong with silos, or what a resolver did.

import Platform
package import StandardConformances

/// What went wrong in the use of silos.
public enum SiloError: AdvisedError, Sendable, Equatable {
  /// A transaction uses silos whose stores cannot be changed together.
  case separateStores(String, String)
  /// A transaction's context was used after its closure had ended.
  case escapedTransaction
  /// A silo has no resolver that could be asked.
  case noResolver(String)
  /// No value has the id, neither in the store nor at the resolver.
  case unknownID(type: String, id: String)
  /// A resolver has returned a value that was not asked for.
  case unexpectedValue(type: String, id: String)
  /// A resolver has not answered in time.
  case resolverTimedOut(String, after: Duration)
  /// A silo was to be moved to a store that has values, others than those that it has left there.
  case storeIsNotEmpty(String)
  /// A silo was to be moved to a store that cannot keep a value's properties: only a newer release
  /// of the program knows them.
  case unknownProperties(type: String, id: String)
  /// A managed value was to be evicted.
  case managed(type: String, id: String)
  /// A value was deleted, and that is not uploaded yet.
  case deleted(type: String, id: String)
  /// Another value refers to the one that was to be deleted, by a relation that denies that.
  case deletionDenied(type: String, by: String, id: String, property: String)
  /// A stored type has relations with rules to this one, and the program has not used it yet.
  case unknownReferrer(table: String, target: String)
  /// A table was written by a newer version of the program. It is left as it is.
  case newerVersion(table: String, stored: Int, known: Int)
  /// A table has a version from which no step leads to the program's own. It is left as it is.
  case unknownVersion(table: String, stored: Int, known: [Int])

  package var problem: String {
    switch self {
    case .separateStores(let one, let other):
      "the silos of \(one) and \(other) cannot be changed in one transaction: their stores are in "
        + "different workspaces"
    case .escapedTransaction: "a transaction's context was used after its closure had ended"
    case .noResolver(let type):
      "the silo of \(type) has no resolver to ask for what is not stored"
    case .unknownID(let type, let id):
      "no \(type) has the id \(id.shortened), neither in the store nor at the resolver"
    case .unexpectedValue(let type, let id):
      "the resolver of \(type) has returned the id \(id.shortened), which was not asked for; nothing of its "
        + "answer is stored"
    case .resolverTimedOut(let type, let time):
      "the resolver of \(type) has not answered within \(time); nothing of its answer is stored"
    case .storeIsNotEmpty(let type):
      "the values of \(type) were to be moved to a store that has values already; nothing was moved"
    case .unknownProperties(let type, let id):
      "the \(type) with the id \(id.shortened) has properties that only a newer release of this program "
        + "knows, and the store that it was to be moved to cannot keep them; nothing was moved"
    case .managed(let type, let id):
      "the \(type) with the id \(id.shortened) is managed: it is pinned, waits to be uploaded, or is retained "
        + "by such a value; nothing was evicted"
    case .deleted(let type, let id):
      "the \(type) with the id \(id.shortened) was deleted, and the deletion is not uploaded yet; nothing was "
        + "saved"
    case .deletionDenied(let type, let owner, let id, let property):
      "a \(type) cannot be deleted while '\(property)' of the \(owner) with the id \(id.shortened) refers to "
        + "it; nothing was deleted"
    case .unknownReferrer(let table, let target):
      "the values of the table '\(table)' refer to \(target) by relations with rules, and the "
        + "program has not used their type yet; nothing was changed"
    case .newerVersion(let table, let stored, let known):
      "the values of \(table) have version \(stored), and this program knows them up to version "
        + "\(known); nothing was changed"
    case .unknownVersion(let table, let stored, let known):
      "the values of \(table) have version \(stored), and this program knows the versions "
        + "\(known.map(String.init).joined(separator: ", ")); nothing was changed"
    }
  }

  package var advice: String? {
    switch self {
    case .separateStores: "make both stores in one workspace, or use two transactions"
    case .escapedTransaction: "use it inside only"
    case .noResolver: "give it one with 'resolve(with:)'"
    case .unknownID: nil
    case .unexpectedValue: "return only what was asked for"
    case .resolverTimedOut: "ask again, or give it more time"
    case .storeIsNotEmpty:
      "pass an empty store, or one that the silo has left and nothing else has changed"
    case .unknownProperties:
      "move the silo with the newest release, or to a 'WorkspaceValueStore', a 'MemoryValueStore' or "
        + "an 'EmpireValueStore'"
    case .managed: "unpin it, or wait until 'isManaged' is false"
    case .deleted:
      "pass 'ifDeleted: .skip' for values from a server, and '.recreate' for a value that is made "
        + "again"
    case .deletionDenied(_, let owner, _, _): "change or delete that \(owner) first"
    case .unknownReferrer:
      "use 'silos[…]' with that type when the program starts, or call 'forgetRules(ofTable:)' if the "
        + "program does not have the type any more"
    case .newerVersion: "use a newer version of the program"
    case .unknownVersion(_, let stored, _):
      "retain version \(stored) with @EntityVersion, and add a step that leads from it"
    }
  }
}
