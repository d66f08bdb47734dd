// LiveFeed: what is committed, as it happens.
//
//  - The store is followed from the first question on. A question waits until there is something
//    newer than what the page knows; it takes no thread meanwhile.
//  - A commit is announced at once, so that the page reads again what it shows. What was changed
//    follows, as soon as the objects have been compared with what they were.
//  - The feed keeps the last changes. A page that was away for a while gets those that it has
//    missed, or learns that some are gone.

import DflatTools
import Dispatch
import Foundation
import Platform

/// What has happened.
struct LiveAnswer: Encodable {
  /// A change of an object.
  struct Change: Encodable, Sendable {
    struct Field: Encodable, Sendable {
      let name: String
      let old: String
      let new: String
    }

    let kind: ObjectChange.Kind
    let type: String
    let table: String
    let row: String
    let key: [String]
    let fields: [Field]
  }

  /// One or more transactions.
  struct Event: Encodable, Sendable {
    let number: Int
    /// When it was seen, in milliseconds since 1970.
    let time: Int
    let changes: [Change]
    /// How many objects were changed; more than there are changes if these are many.
    let count: Int
  }

  /// How many commits were noticed: the next question is about later ones.
  let commits: Int
  /// The number of the last event: the next question is about later ones.
  let last: Int
  let events: [Event]
  /// Whether there were events that are not kept any more.
  let hasGap: Bool
  /// Whether the store is followed: before, nothing is seen.
  let isFollowing: Bool
  /// Why it is not followed.
  let problem: String?
}

/// Follows a store; see the head of this file.
final class LiveFeed: Sendable {
  private struct Waiter {
    let since: Int
    let commits: Int
    let asker: Asker
    let reply: HTTPServer.Reply
    let end: ContinuousClock.Instant
  }

  private struct State {
    var events: [LiveAnswer.Event] = []
    var last = 0
    var commits = 0
    var isStarted = false
    var isFollowing = false
    var isStopped = false
    var problem: String?
    var waiters: [Waiter] = []
    var timer: (any DispatchSourceTimer)?
  }

  /// More events are not kept.
  private static let kept = 100
  /// A question without an event is answered after this time, so that the page notices the end of
  /// the program.
  private static let patience = Duration.seconds(20)

  private let store: any DataStore
  private let counts: Counts
  private let stopSignal = StopSignal()
  private let state = Mutex(State())
  private let ended = DispatchGroup()

  /// - Parameter counts: Forgotten as soon as something is committed.
  init(_ store: any DataStore, _ counts: Counts) {
    self.store = store
    self.counts = counts
  }

  /// Answers a question when there is something newer than an event.
  /// - Parameters:
  ///   - since: The last event that the page knows; −1 if it wants to know when the store begins to
  ///     be followed.
  ///   - commits: The last commit that the page knows.
  ///   - asker: Waits for the answer.
  func wait(
    since: Int, commits: Int, for asker: Asker, _ reply: @escaping HTTPServer.Reply
  ) {
    start()
    let answer = state.withLock { state -> LiveAnswer? in
      let isDue =
        state.last > max(since, 0) || state.commits > commits || state.isStopped
        || state.problem != nil
        || (since < 0 && state.isFollowing)
      if isDue { return Self.answer(state, since) }
      state.waiters.append(
        Waiter(
          since: since, commits: commits, asker: asker, reply: reply, end: .now + Self.patience))
      return nil
    }
    if let answer { return reply(Answers.json(answer)) }
    asker.whenGone { [weak self] in self?.change() }
  }

  private static func answer(_ state: State, _ since: Int) -> LiveAnswer {
    let known = max(since, 0)
    let events = state.events.filter { $0.number > known }
    return LiveAnswer(
      commits: state.commits, last: state.last, events: events,
      hasGap: state.last - known > events.count,
      isFollowing: state.isFollowing, problem: state.problem)
  }

  /// Begins to follow the store.
  private func start() {
    let isFirst = state.withLock { state -> Bool in
      if state.isStarted || state.isStopped { return false }
      state.isStarted = true
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
      timer.setEventHandler { [weak self] in self?.change() }
      timer.resume()
      state.timer = timer
      return true
    }
    if !isFirst { return }
    ended.enter()
    Thread.detachNewThread { [self] in
      do {
        try store.follow(
          until: stopSignal, began: { change { $0.isFollowing = true } },
          noticed: {
            counts.forget()
            change { $0.commits += 1 }
          }
        ) { changes in
          change { Self.add(changes, to: &$0) }
        }
      } catch {
        change {
          $0.problem = "\(error)"
          $0.isFollowing = false
        }
      }
      ended.leave()
    }
  }

  private static func add(_ changes: CommittedChanges, to state: inout State) {
    state.last += 1
    state.events.append(
      LiveAnswer.Event(
        number: state.last, time: Int(Date().timeIntervalSince1970 * 1000),
        changes: changes.changes.map { LiveAnswer.Change($0) }, count: changes.count))
    if state.events.count > kept { state.events.removeFirst() }
  }

  /// Changes the state, and answers the questions for which there is something now, or that have
  /// waited long enough.
  private func change(_ body: (inout State) -> Void = { _ in }) {
    let now = ContinuousClock.now
    let due = state.withLock { state -> [(HTTPServer.Reply, LiveAnswer)] in
      body(&state)
      let present = state
      func isDue(_ waiter: Waiter) -> Bool {
        present.last > max(waiter.since, 0) || present.commits > waiter.commits
          || present.problem != nil || present.isStopped
          || (waiter.since < 0 && present.isFollowing) || waiter.end < now || waiter.asker.isGone
      }
      let chosen = state.waiters.filter(isDue)
      state.waiters.removeAll(where: isDue)
      return chosen.map { ($0.reply, Self.answer(state, $0.since)) }
    }
    for (reply, answer) in due { reply(Answers.json(answer)) }
  }

  /// Answers all questions and ends.
  func stop() {
    stopSignal.stop()
    change { state in
      state.isStopped = true
      state.timer?.cancel()
      state.timer = nil
    }
    ended.wait()
  }
}

extension LiveAnswer.Change {
  /// - Parameter change: Its values may be long; they are shown in a list.
  fileprivate init(_ change: ObjectChange) {
    func short(_ text: String) -> String {
      text.utf8.count <= 200 ? text : String(text.unicodeScalars.prefix(200)) + "…"
    }
    kind = change.kind
    type = change.type
    table = change.table
    row = "\(change.row)"
    key = change.key.map(short)
    fields = change.fields.prefix(20).map {
      Field(name: $0.name, old: short($0.old), new: short($0.new))
    }
  }
}
