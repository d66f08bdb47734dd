// SiloError: what a program did wrong with silos, or what a resolver did.

/// What went wrong in the use of silos.
public enum SiloError: Error, Sendable, Equatable, CustomStringConvertible {
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
  /// A silo was to be moved to a store that has values.
  case storeIsNotEmpty(String)
  /// A table was written by a newer version of the program. It is left as it is.
  case newerVersion(table: String, stored: Int, known: Int)

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .separateStores(let one, let other):
      "the silos of \(one) and \(other) cannot be changed in one transaction: their stores are in "
        + "different workspaces; make both stores in one workspace, or use two transactions"
    case .escapedTransaction:
      "a transaction's context was used after its closure had ended; use it inside only"
    case .noResolver(let type):
      "the silo of \(type) has no resolver to ask for what is not stored; give it one with "
        + "'resolve(with:)'"
    case .unknownID(let type, let id):
      "no \(type) has the id \(id), neither in the store nor at the resolver"
    case .unexpectedValue(let type, let id):
      "the resolver of \(type) has returned the id \(id), which was not asked for; nothing of its "
        + "answer is stored"
    case .resolverTimedOut(let type, let time):
      "the resolver of \(type) has not answered within \(time); nothing of its answer is stored; "
        + "ask again, or give it more time"
    case .storeIsNotEmpty(let type):
      "the values of \(type) were to be moved to a store that has values already; nothing was "
        + "moved; pass an empty store"
    case .newerVersion(let table, let stored, let known):
      "the values of \(table) have version \(stored), and this program knows them up to version "
        + "\(known); nothing was changed; use a newer version of the program"
    }
  }
}
