// Health: what the store is like, and what a check of it finds.

import DflatTools
import Foundation
import Platform

/// What is known of the store's health.
struct HealthAnswer: Encodable {
  /// nil if there is no file yet.
  let information: (any StoreInformation)?
  let check: CheckRuns.Answer

  private enum CodingKeys: CodingKey { case information, check }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try information?.encode(to: container.superEncoder(forKey: .information))
    try container.encode(check, forKey: .check)
  }
}

/// A check of the whole store, which takes long: it runs beside the page.
final class CheckRuns: Sendable {
  /// How far it is.
  struct Answer: Encodable, Sendable {
    /// `none`, `running`, `done` or `failed`.
    var state = "none"
    var seconds: Double?
    var report: CheckReport?
    var worst: String?
    var nextStep: String?
    var problem: String?
  }

  private struct State {
    var answer = Answer()
    var began = ContinuousClock.now
    var isStopped = false
  }

  private let store: any DataStore
  private let state = Mutex(State())
  private let ended = DispatchGroup()
  private let stopSignal = StopSignal()

  init(_ store: any DataStore) { self.store = store }

  /// The last check.
  var answer: Answer {
    state.withLock { state in
      var answer = state.answer
      if answer.state == "running" { answer.seconds = Self.seconds(since: state.began) }
      return answer
    }
  }

  /// Starts a check, unless one is running.
  func start() -> Answer {
    let isNew = state.withLock { state -> Bool in
      if state.answer.state == "running" || state.isStopped { return false }
      state.answer = Answer(state: "running")
      state.began = .now
      return true
    }
    if isNew {
      ended.enter()
      DispatchQueue.global(qos: .utility).async { [self] in
        run()
        ended.leave()
      }
    }
    return answer
  }

  private func run() {
    var answer = Answer(state: "done")
    do {
      let report = try store.check(limit: 100, until: stopSignal, nil)
      answer.report = report
      answer.worst = report.worst?.rawValue
      answer.nextStep = report.nextStep
    } catch {
      answer.state = "failed"
      answer.problem = "\(error)"
    }
    state.withLock { state in
      answer.seconds = Self.seconds(since: state.began)
      state.answer = answer
    }
  }

  private static func seconds(since start: ContinuousClock.Instant) -> Double {
    start.duration(to: .now) / .seconds(1)
  }

  /// Ends a check that is running, and waits for it: it uses the store.
  func stop() {
    state.withLock { $0.isStopped = true }
    stopSignal.stop()
    ended.wait()
  }
}

extension Answers {
  func health() throws -> HealthAnswer {
    HealthAnswer(
      information: store._isThere ? try counts.information(store) : nil, check: checks.answer)
  }
}
