// What a server is asked, and what it answers.

import Foundation

/// A request, as far as it was read.
struct HTTPRequest: Sendable {
  let method: String
  /// What stands behind the method, undecoded.
  let uri: String
  /// Names in lower case, in the order in which they came.
  let headers: [(name: String, value: String)]
  var body = Data()

  /// The values of a header.
  func values(_ name: String) -> [String] {
    headers.compactMap { $0.name == name ? $0.value : nil }
  }

  /// The value of a header that is there once; nil if it is missing, or there several times.
  func value(_ name: String) -> String? {
    let found = values(name)
    return found.count == 1 ? found[0] : nil
  }
}

/// An answer.
struct HTTPResponse: Sendable {
  var status: UInt32
  var headers: [(name: String, value: String)]
  var body: Data

  /// Headers of every answer: nothing is kept, guessed or shown elsewhere.
  private static let common = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  init(
    _ status: UInt32, _ type: String, _ body: Data, policy: String = "default-src 'none'",
    headers: [(name: String, value: String)] = []
  ) {
    self.status = status
    self.body = body
    self.headers =
      Self.common.map { ($0.0, $0.1) }
      + [
        ("Content-Type", type),
        (
          "Content-Security-Policy",
          "\(policy); base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
      ] + headers
  }

  /// A text for people.
  init(_ status: UInt32, text: String) {
    self.init(status, "text/plain; charset=utf-8", Data((text + "\n").utf8))
  }
}
