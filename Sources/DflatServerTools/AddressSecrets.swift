// AddressSecrets: the passwords in texts that are addresses of servers, or were meant to be.
//
//  - Nothing is known of a text: it may have been typed in the wrong place, or wrongly. Passwords
//    are found where libpq finds them, and also where it refuses the address.
//  - What is left of an address that can be read is one that can be read.

import Foundation

/// What must not be shown of some texts, such as the arguments of a command.
package struct AddressSecrets: Sendable {
  /// Parts of the texts that have a password, each with what is shown in its place.
  private var parts: [(text: String, shown: String)] = []

  package init(in texts: [String]) {
    for text in texts {
      var rest = text
      while let (range, shown) = Self.first(in: rest) {
        parts.append((String(rest[range]), shown))
        rest.replaceSubrange(range, with: shown)
      }
    }
  }

  package var isEmpty: Bool { parts.isEmpty }

  /// A text, such as a message about the texts, without their passwords.
  package func removed(from text: String) -> String {
    parts.reduce(text) {
      $0.replacingOccurrences(of: $1.text, with: $1.shown, options: .literal)
    }
  }

  /// Whether a text was meant to be the address of a server, even if it cannot be read as one.
  package static func isLikeAddress(_ text: String) -> Bool {
    text.prefixMatch(of: #/\s*postgres(ql)?:\//#.ignoresCase()) != nil
      || !AddressSecrets(in: [text]).isEmpty
  }

  private typealias Part = (range: Range<String.Index>, shown: String)

  /// The keywords of libpq whose values are secret.
  private static let keywords: Set = [
    "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
  ]

  private static func first(in text: String) -> Part? {
    // Passwords may begin with a combining character.
    let scheme = #/postgres(?:ql)?:\/*|[a-z][a-z0-9+.\-]*:\/\/+/#.ignoresCase()
      .matchingSemantics(.unicodeScalar)
    guard let scheme = text.firstMatch(of: scheme) else { return firstSetting(in: text) }
    let address = text[scheme.range.upperBound...]
    return password(in: address) ?? firstParameter(in: address)
  }

  /// `USER:PASSWORD@HOST/…`
  private static func password(in address: Substring) -> Part? {
    var place = address.unicodeScalars
    if let at = place.firstIndex(of: "@"), !place[..<at].contains("/") {
      place =
        place[..<(place[at...].firstIndex { "/?".unicodeScalars.contains($0) } ?? place.endIndex)]
    } else {
      // The password may have a slash, with which libpq refuses the address.
      place = place[..<queryStart(of: address)]
    }
    guard let colon = place.firstIndex(of: ":"), let at = place.lastIndex(of: "@"), colon < at
    else { return nil }
    return (colon..<place.index(after: at), "@")
  }

  private static func queryStart(of address: Substring) -> String.Index {
    address.firstMatch(of: #/\?[\w%]+=/#)?.range.lowerBound ?? address.endIndex
  }

  /// `?password=PASSWORD&…`
  private static func firstParameter(in address: Substring) -> Part? {
    let start = queryStart(of: address)
    let query = address[start...].unicodeScalars
    for parameter in query.dropFirst().split(separator: "&") {
      guard let equal = parameter.firstIndex(of: "=") else { continue }
      let name = String(parameter[..<equal])
      guard keywords.contains((name.removingPercentEncoding ?? name).lowercased()) else { continue }
      let (from, end) = (parameter.startIndex, parameter.endIndex)
      // One of the separators goes, too.
      if end < query.endIndex { return (from..<query.index(after: end), "") }
      return (query.index(before: from)..<end, "")
    }
    return nil
  }

  /// `host=HOST password='PASSWORD'`, perhaps behind the name of an option.
  private static func firstSetting(in text: String) -> Part? {
    let option = text.prefixMatch(of: #/--[\w\-]+=/#)
    let settings = text[(option?.range.upperBound ?? text.startIndex)...]
    guard settings.prefixMatch(of: #/\s*\w+\s*=/#) != nil else { return nil }
    let setting = #/\s*\b(\w+)\s*=\s*(?:'(?:\\.|[^'\\])*'?|(?:\\.|[^\s\\])+)/#
      .matchingSemantics(.unicodeScalar)
    let secret = settings.matches(of: setting).first { keywords.contains($0.output.1.lowercased()) }
    return secret.map { ($0.range, "") }
  }
}
