// Answers: what the page asks, and what it is answered.
//
//  - A question is a JSON object with `ask`, the name of a question, and its parameters. Answers
//    are JSON. What is wrong with a question is an answer, too, with a status of its own.
//  - Everything is read by calls of DflatTools. A question keeps a read transaction open no longer
//    than it takes to answer it. Once the client is gone, its queries end.

import Dflat
import DflatTools
import Foundation
import Platform

/// What the page can ask, with all parameters of all questions.
struct Question: Decodable, Sendable {
  var ask: String
  var type: String?
  /// The id of a row.
  var row: Int64?
  /// The row behind which a page begins.
  var after: Int64?
  var limit: Int?
  var key: [String]?
  var field: String?
  /// The type that refers to an object.
  var from: String?
  var path: [String]?
  var text: String?
  var json: String?
  var version: String?
  var since: Int?
  var commits: Int?
  /// Whether to do what takes long.
  var anyway: Bool?

  /// Whether it may read all objects of a type.
  var isLong: Bool {
    ["query", "count", "deletion"].contains(ask) || ask == "referrers" && anyway == true
  }

  private enum CodingKeys: CodingKey {
    case ask, type, row, after, limit, key, field, from, path, text, json, version, since, commits,
      anyway
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    /// JavaScript has no whole numbers of 64 bits: row ids are texts.
    func number(_ key: CodingKeys) throws -> Int64? {
      guard let text = try values.decodeIfPresent(String.self, forKey: key) else { return nil }
      guard let number = Int64(text) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: values, debugDescription: "'\(key.stringValue)' is no row id")
      }
      return number
    }
    ask = try values.decode(String.self, forKey: .ask)
    type = try values.decodeIfPresent(String.self, forKey: .type)
    row = try number(.row)
    after = try number(.after)
    limit = try values.decodeIfPresent(Int.self, forKey: .limit)
    key = try values.decodeIfPresent([String].self, forKey: .key)
    field = try values.decodeIfPresent(String.self, forKey: .field)
    from = try values.decodeIfPresent(String.self, forKey: .from)
    path = try values.decodeIfPresent([String].self, forKey: .path)
    text = try values.decodeIfPresent(String.self, forKey: .text)
    json = try values.decodeIfPresent(String.self, forKey: .json)
    version = try values.decodeIfPresent(String.self, forKey: .version)
    since = try values.decodeIfPresent(Int.self, forKey: .since)
    commits = try values.decodeIfPresent(Int.self, forKey: .commits)
    anyway = try values.decodeIfPresent(Bool.self, forKey: .anyway)
  }
}

/// Why a question has no answer.
struct NoAnswer: Error {
  let status: UInt32
  let problem: Problem
}

/// What is wrong, as the page shows it.
struct Problem: Encodable {
  var message: String
  var hint: String?
  /// The place in a text, in UTF-16 code units, as JavaScript counts.
  var start: Int?
  var end: Int?
  /// The field with a wrong value.
  var field: String?
}

/// Answers the page's questions.
final class Answers: HTTPServer.Handler {
  let gate = Gate()
  let store: any DataStore
  let allowsChanges: Bool
  let counts = Counts()
  let live: LiveFeed
  let checks: CheckRuns
  let long: LongQuestions
  /// The page, read once.
  private let page = String(decoding: PackageResources.inspector_html, as: UTF8.self)

  /// - Parameter patience: How long a question that takes long waits for others.
  init(
    _ store: any DataStore, allowsChanges: Bool, patience: DispatchTimeInterval = .seconds(5)
  ) {
    self.store = store
    self.allowsChanges = allowsChanges
    long = LongQuestions(patience: patience)
    live = LiveFeed(store, counts)
    checks = CheckRuns(store)
  }

  /// Answers what waits for an event, and ends what goes on.
  func stop() {
    live.stop()
    checks.stop()
  }

  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    do throws(Gate.Refused) {
      _ = try gate.errand(of: request)
      return nil
    } catch {
      return HTTPResponse(error.status, text: error.message)
    }
  }

  func answer(_ request: HTTPRequest, for asker: Asker, _ reply: @escaping HTTPServer.Reply) {
    do throws(Gate.Refused) {
      switch try gate.errand(of: request) {
      case .opening:
        try gate.open(request.uri)
        let (path, cookie) = gate.session
        reply(
          HTTPResponse(
            303, "text/plain; charset=utf-8", Data(),
            headers: [
              ("Location", path),
              ("Set-Cookie", "dflat=\(cookie); Path=\(path); HttpOnly; SameSite=Strict"),
            ]))
      case .page: reply(pageAnswer())
      case .question: answerQuestion(request.body, asker, reply)
      }
    } catch {
      reply(HTTPResponse(error.status, text: error.message))
    }
  }

  /// The page, whose own style and script have a number that is used once: no other is allowed.
  private func pageAnswer() -> HTTPResponse {
    var generator = SystemRandomNumberGenerator()
    let nonce = "\(UInt64.random(in: 0...UInt64.max, using: &generator))"
    return HTTPResponse(
      200, "text/html; charset=utf-8", Data(page.replacing("NONCE", with: nonce).utf8),
      policy: "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
        + "img-src data:; connect-src 'self'")
  }

  private func answerQuestion(
    _ body: Data, _ asker: Asker, _ reply: @escaping HTTPServer.Reply
  ) {
    do {
      let question: Question
      do { question = try JSONDecoder().decode(Question.self, from: body) } catch {
        throw NoAnswer(400, "this is no question")
      }
      // The only question that waits for an event.
      if question.ask == "live" {
        return live.wait(
          since: question.since ?? 0, commits: question.commits ?? .max, for: asker, reply)
      }
      // What changes objects is finished once it has begun.
      if ["commit", "delete"].contains(question.ask) { return reply(try answer(question)) }
      if !question.isLong { return read(question, asker, reply) }
      long.begin(for: asker, orElse: { reply(Self.json($0.problem, status: $0.status)) }) {
        [self] in
        read(question, asker, reply)
      }
    } catch {
      refuse(error, reply)
    }
  }

  /// Answers a question that changes nothing. It ends with the asker.
  private func read(_ question: Question, _ asker: Asker, _ reply: HTTPServer.Reply) {
    let reading = ReadInterruption()
    asker.whenGone { reading.cancel() }
    do { reply(try reading.during { try answer(question) }) } catch { refuse(error, reply) }
  }

  private func refuse(_ error: any Error, _ reply: HTTPServer.Reply) {
    let answer = NoAnswer(of: error)
    reply(Self.json(answer.problem, status: answer.status))
  }

  private func answer(_ question: Question) throws -> HTTPResponse {
    if !["value", "whole"].contains(question.ask) { try store.refresh() }
    switch question.ask {
    case "types": return Self.json(try types())
    case "count": return Self.json(try count(question))
    case "rows": return Self.json(try rows(question))
    case "object": return Self.json(try object(question))
    case "find": return Self.json(try find(question))
    case "referrers": return Self.json(try referrers(question))
    case "value": return try wholeValue(question)
    case "whole": return try wholeObject(question)
    case "query": return Self.json(try query(question))
    case "health": return Self.json(try health())
    case "check": return Self.json(checks.start())
    case "draft": return Self.json(try draft(question))
    case "commit": return try commit(question)
    case "deletion": return Self.json(try deletion(question))
    case "delete": return Self.json(try delete(question))
    default: throw NoAnswer(400, "there is no question '\(question.ask)'")
    }
  }

  // MARK: JSON

  /// An answer as JSON.
  static func json(
    _ value: some Encodable, status: UInt32 = 200, _ format: JSONEncoder.OutputFormatting = []
  ) -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys, format]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do { return HTTPResponse(status, "application/json", try encoder.encode(value)) } catch {
      return HTTPResponse(500, text: "an answer has no form as JSON: \(error)")
    }
  }

  // MARK: Parameters

  /// The type of a question, by the name of its table.
  func type(_ question: Question) throws -> StoredType { try type(named: question.type) }

  func type(named name: String?) throws -> StoredType {
    guard let name else { throw NoAnswer(400, "the question has no type") }
    guard let type = store.types.first(where: { $0.table == name }) else {
      throw NoAnswer(404, "there is no type with the table \(name)")
    }
    return type
  }

  /// The object of a question.
  func object(_ question: Question, of type: StoredType) throws -> StoredObject {
    guard let row = question.row else { throw NoAnswer(400, "the question has no row") }
    guard let object = try store.object(of: type, rowID: row) else {
      throw NoAnswer(404, "there is no such \(type.name): it may have been deleted")
    }
    return object
  }
}

extension NoAnswer {
  init(_ status: UInt32, _ message: String) {
    self.init(status: status, problem: Problem(message: message))
  }

  init(of error: any Error) {
    switch error {
    case let error as NoAnswer: self = error
    case is CancellationError: self.init(503, "the question was given up")
    case let error as DflatTools.DraftConflict: self.init(409, error.description)
    case let error as QueryTextError: self.init(status: 400, problem: Problem(error))
    case let error as ImportProblem:
      self.init(
        status: 400, problem: Problem(message: error.message, field: error.field))
    case let error as ToolError:
      let status: UInt32 =
        switch error.kind {
        case .usage, .badData: 400
        case .noSuchFile, .storage: 503
        }
      self.init(status: status, problem: Problem(message: error.message, hint: error.advice))
    default: self.init(500, "\(error)")
    }
  }
}

extension Problem {
  init(_ error: QueryTextError) {
    let bytes = Array(error.text.utf8)
    func units(_ end: Int) -> Int {
      String(decoding: bytes[..<min(max(end, 0), bytes.count)], as: UTF8.self).utf16.count
    }
    self.init(
      message: error.message, hint: error.hint, start: units(error.range.lowerBound),
      end: units(error.range.upperBound))
  }
}
