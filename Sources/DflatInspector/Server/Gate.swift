// Gate: which requests the inspector answers.
//
//  - The token in the printed address opens one session, once. The session is a random path and a
//    cookie for it. Browsers send cookies to all ports of a host; a path that no other server knows
//    keeps this one from them.
//  - Only requests to this host and port count, and if a browser says where a request comes from,
//    it must come from here: a page elsewhere that makes its own name lead to this machine gets
//    nothing.
//  - There are three requests: the address with the token, the page, and a question of the page.
//    The last one carries a header that no form and no foreign page can send.

import Foundation
import Platform

/// Decides about requests.
final class Gate: Sendable {
  /// What an admitted request wants.
  enum Errand: Sendable {
    /// To begin the session.
    case opening
    /// The page.
    case page
    /// A question of the page.
    case question
  }

  /// A refusal.
  struct Refused: Error {
    let status: UInt32
    let message: String
  }

  private struct State {
    /// nil once it was used.
    var token: String?
    var port: UInt16 = 0
  }

  /// The name of the page's own header.
  static let header = "dflat-inspector"

  private let state: Mutex<State>
  private let path: String
  private let cookie: String
  /// The token, for the printed address.
  let token: String

  init() {
    token = Self.secret(32)
    path = "/" + Self.secret(16) + "/"
    cookie = Self.secret(32)
    state = Mutex(State(token: token))
  }

  func setPort(_ port: UInt16) { state.withLock { $0.port = port } }

  /// The page's path, and the cookie for it.
  var session: (path: String, cookie: String) { (path, cookie) }

  /// Decides about a request, by its first line and its headers.
  func errand(of request: HTTPRequest) throws(Refused) -> Errand {
    try checkPlaces(request)
    if request.uri.hasPrefix("/?token=") {
      try require("GET", request)
      return .opening
    }
    let isPage = request.uri == path
    guard isPage || request.uri == path + "ask" else {
      throw Refused(status: 404, message: "nothing is here")
    }
    try require(isPage ? "GET" : "POST", request)
    guard hasCookie(request) else {
      throw Refused(status: 403, message: "this session is not yours: \(Self.advice)")
    }
    if isPage { return .page }
    guard request.value(Self.header) == "1", request.value("origin") != nil,
      request.value("content-type") == "application/json"
    else {
      throw Refused(status: 403, message: "only the page itself may ask")
    }
    return .question
  }

  /// Begins the session with the token of an address. Works once.
  func open(_ uri: String) throws(Refused) {
    let given = uri.dropFirst("/?token=".count)
    let isRight = state.withLock { state -> Bool in
      guard let token = state.token, Self.areEqual(String(given), token) else { return false }
      state.token = nil
      return true
    }
    if !isRight {
      throw Refused(
        status: 403, message: "this address is wrong, or was used already: \(Self.advice)")
    }
  }

  private static let advice =
    "go back to the page if it is open, or start the inspector again for a new address"

  private func require(_ method: String, _ request: HTTPRequest) throws(Refused) {
    if request.method != method { throw Refused(status: 405, message: "use \(method)") }
  }

  /// Where a request goes, and where it comes from.
  private func checkPlaces(_ request: HTTPRequest) throws(Refused) {
    let port = state.withLock { $0.port }
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    guard let host = request.value("host"), hosts.contains(host) else {
      throw Refused(status: 421, message: "this is another host")
    }
    let origins = request.values("origin")
    guard origins.isEmpty || origins == ["http://\(host)"] else {
      throw Refused(status: 403, message: "this comes from another page")
    }
    let sites = request.values("sec-fetch-site")
    guard sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else {
      throw Refused(
        status: 403,
        message: "this comes from another page: copy the address into the browser's address bar")
    }
  }

  private func hasCookie(_ request: HTTPRequest) -> Bool {
    let pairs = request.values("cookie").flatMap { $0.split(separator: ";") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let own = pairs.filter { $0.hasPrefix("dflat=") }
    return own.count == 1 && Self.areEqual(String(own[0].dropFirst("dflat=".count)), cookie)
  }

  /// Compares in a time that does not depend on where texts differ.
  private static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Random hexadecimal digits, of the system's secure generator.
  private static func secret(_ bytes: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let random = (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return random.map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }
}
