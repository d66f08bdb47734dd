// Migrations between the versions of a letter, and shorthands to store letters.

public import Dflat

/// The reason why a letter cannot be migrated.
public struct Illegible: Error, Equatable {
  let text: String

  /// Creates the error with the text of the letter.
  public init(text: String) { self.text = text }
}

/// Migrations between the versions of a letter.
public enum Letters {
  /// Letters without text have no successor; a letter whose text says so fails to migrate.
  public static func toSecond(keepsOld: Bool = false) -> Migration<V1.Letter, V2.Letter> {
    Migration(from: V1.Letter.self, to: V2.Letter.self, keepsOld: keepsOld) { old in
      guard let text = old.text else { return nil }
      if text == "illegible" { throw Illegible(text: text) }
      return V2.Letter(
        id: "n\(old.number)", text: text, words: Int32(text.split(separator: " ").count),
        slug: text.hasPrefix("same") ? "same" : "slug \(old.number)")
    }
  }

  /// Every letter has a successor.
  public static func toThird(keepsOld: Bool = false) -> Migration<V2.Letter, Mail.Dispatch> {
    Migration(from: V2.Letter.self, to: Mail.Dispatch.self, keepsOld: keepsOld) { old in
      Mail.Dispatch(id: old.id, sheet: 1, text: old.text, words: Int64(old.words))
    }
  }

  /// What letters of the first version become in the second.
  public static func converted(_ numbers: Range<Int32>) -> [V2.Letter] {
    numbers.compactMap { try? toSecond().migrate(old($0)) }
  }

  /// A letter of the first version; one in ten is empty.
  public static func old(_ number: Int32) -> V1.Letter {
    V1.Letter(
      number: number,
      text: number % 10 == 9
        ? nil : Array(repeating: "w", count: Int(number % 7)).joined(separator: " "),
      likes: number)
  }
}

extension TestWorkspace {
  /// Stores letters of the first version.
  public func storeFirst(_ letters: [V1.Letter]) throws {
    try write([V1.Letter.self]) { txn in
      for letter in letters { try txn.submit(V1.LetterChangeRequest.creationRequest(letter)) }
    }
  }

  /// The stored letters of the first version.
  public var firstLetters: [V1.Letter] {
    workspace.fetch(for: V1.Letter.self).all().underlyingArray
  }
  /// The stored letters of the second version.
  public var secondLetters: [V2.Letter] {
    workspace.fetch(for: V2.Letter.self).all().underlyingArray
  }
  /// The stored letters of the third version.
  public var dispatches: [Mail.Dispatch] {
    workspace.fetch(for: Mail.Dispatch.self).all().underlyingArray
  }
}
