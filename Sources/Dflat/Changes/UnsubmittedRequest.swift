// UnsubmittedRequest: debug builds report change requests whose fields were set but that were never
// submitted.
//
//  - Each request has a watch. If the request is released with changed fields and was not
//    submitted, the watch notes that in the transaction in which the request was made. Requests
//    that were made outside of transactions are not watched.
//  - The transaction reports these requests when it commits. A transaction that was aborted or has
//    failed has no changes to lose.
//
// Optimised builds contain none of this.

import Platform

package import StandardConformances

/// A request whose fields were set in a transaction but that was never submitted, so that its
/// changes are lost.
///
/// Debug builds report it to the workspace's error hook, or to the standard error stream if there
/// is no hook. Submit the request, or do not make it. Requests of transactions that were aborted or
/// have failed are not reported.
public struct UnsubmittedRequest: AdvisedError, Sendable, Equatable {
  /// The entity type, by its name in the schema.
  public let type: String
  /// Whether the request was to create an object; false if it was to change one.
  public let isCreation: Bool

  /// Creates a description of an unsubmitted request.
  package init(type: String, isCreation: Bool = false) {
    self.type = type
    self.isCreation = isCreation
  }

  package var problem: String {
    isCreation
      ? "a creation request for \(type) was filled in and never submitted, so nothing is created"
      : "a change request for \(type) was changed and never submitted, so its changes are lost"
  }

  package var advice: String? {
    "call submit(_:) with it in the transaction, or abort() if nothing is to be changed"
  }
}

#if DEBUG
  /// The state of one request. Used where the request is used.
  @usableFromInline
  final class RequestWatch: ChangeWatch {
    private let request: UnsubmittedRequest
    private let requests: WatchedRequests
    @usableFromInline var isChanged = false
    @usableFromInline var isSubmitted = false

    init(_ request: UnsubmittedRequest, _ requests: WatchedRequests) {
      self.request = request
      self.requests = requests
    }

    deinit {
      if isChanged, !isSubmitted { requests.noteLoss(of: request) }
    }
  }

  /// The requests that were made in a transaction.
  final class WatchedRequests: Sendable {
    private enum State {
      case open(lost: [UnsubmittedRequest])
      /// Where to report requests that are released later.
      case ended(report: (@Sendable (UnsubmittedRequest) -> Void)?)
    }

    private let state = Mutex(State.open(lost: []))

    fileprivate func noteLoss(of request: UnsubmittedRequest) {
      let report = state.withLock { state -> (@Sendable (UnsubmittedRequest) -> Void)? in
        switch state {
        case .open(let lost):
          state = .open(lost: lost + [request])
          return nil
        case .ended(let report): return report
        }
      }
      report?(request)
    }

    /// Called when the transaction has ended.
    /// - Parameter report: Called with each lost request; nil if the transaction had no changes to
    ///   lose.
    func end(_ report: (@Sendable (UnsubmittedRequest) -> Void)?) {
      let lost = state.withLock { state -> [UnsubmittedRequest] in
        guard case .open(let lost) = state else { return [] }
        state = .ended(report: report)
        return lost
      }
      if let report { lost.forEach(report) }
    }
  }
#endif

extension PendingChange {
  /// Called when the program has submitted the request, whatever the outcome, or when nothing is to
  /// be submitted.
  @inlinable @inline(__always)
  func noteSubmission() {
    #if DEBUG
      watch?.isSubmitted = true
    #endif
  }

  /// The same change, watched by the transaction in which it was made.
  @inline(__always)
  func watched(_ schema: EntitySchema) -> PendingChange {
    #if DEBUG
      guard let transaction = ThreadContext.current.transaction else { return self }
      var change = self
      let request = UnsubmittedRequest(type: schema.layout.name, isCreation: kind == .creation)
      change.watch = RequestWatch(request, transaction.requests)
      return change
    #else
      return self
    #endif
  }
}

extension Transaction {
  /// Ends the watch over all requests that were made in the transaction.
  @inline(__always)
  func endRequests() {
    #if DEBUG
      if isAborted { return requests.end(nil) }
      let report = workspace.reporter
      requests.end { report($0) }
    #endif
  }
}
