// LongQuestions: questions that may read all objects of a type.
//
//  - Few are answered at a time, on threads of their own, so that they leave threads and
//    connections for what other pages ask.
//  - One that cannot begin soon is refused: the inspector is busy.

import Foundation
import Platform

/// The questions that take long; see the head of this file.
final class LongQuestions: Sendable {
  /// Which of several calls comes first.
  private final class Turn: Sendable {
    private let isTaken = Atomic(false)

    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
  }

  /// How many are answered at a time.
  static let limit = 2

  private let queue = OperationQueue()
  private let patience: DispatchTimeInterval

  /// - Parameter patience: How long a question waits for others.
  init(patience: DispatchTimeInterval) {
    self.patience = patience
    queue.maxConcurrentOperationCount = Self.limit
    // The system starts no more threads of one priority than it has processors, as long as these
    // are busy: others have threads of their own.
    queue.qualityOfService = .utility
  }

  /// Answers a question on another thread. Returns at once.
  ///
  /// - Parameters:
  ///   - asker: The client. Once it is gone, the question need not wait for others.
  ///   - refuse: Called instead of `body` if it cannot begin in time, or the client is gone.
  ///   - body: Answers it.
  func begin(
    for asker: Asker, orElse refuse: @escaping @Sendable (NoAnswer) -> Void,
    _ body: @escaping @Sendable () -> Void
  ) {
    let turn = Turn()
    asker.whenGone {
      if turn.take() { refuse(NoAnswer(of: CancellationError())) }
    }
    queue.addOperation { if turn.take() { body() } }
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + patience) {
      if turn.take() { refuse(Self.busy) }
    }
  }

  private static let busy = NoAnswer(
    status: 503,
    problem: Problem(
      message: "the inspector is busy: \(limit) other questions that read many objects are being "
        + "answered",
      hint: "ask again later, or end one of them: stop its query, or leave its page"))
}
