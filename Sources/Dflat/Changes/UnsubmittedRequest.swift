// UnsubmittedRequest: a debug build reports change requests whose fields were set and that were never submitted.
//
//  - Each request holds a watch. When the request is released with changed fields and without having been submitted, the watch
//    notes that in the transaction in which the request was made. One that was made elsewhere is not watched.
//  - The transaction reports these requests when it commits. One that was aborted, or failed, has no changes to lose.
//
// Optimised builds contain none of this.

import Platform

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request whose fields were set in a transaction, and which was never submitted, so that what it says is lost.
///
/// Debug builds tell the workspace's error hook; without a hook it goes to the standard error stream. Submit the request, or do not
/// make it. Requests of transactions that were aborted, or failed, are not told.
public struct UnsubmittedRequest: LocalizedError, Sendable, Equatable, CustomStringConvertible {
  /// The entity type, by its name in the schema.
  public let type: String
  /// Whether it was to create an object, and not to change one.
  public let isCreation: Bool

  /// A request for an object of a type.
  public init(type: String, isCreation: Bool = false) {
    self.type = type
    self.isCreation = isCreation
  }

  /// What is wrong, and what to do.
  public var description: String {
    isCreation
      ? "a creation request for \(type) was filled in and never submitted, so nothing is created; \(advice)"
      : "a change request for \(type) was changed and never submitted, so its changes are lost; \(advice)"
  }

  private var advice: String {
    "call submit(_:) with it in the transaction, or abort() if nothing is to be changed"
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
  /// What to do.
  public var recoverySuggestion: String? { advice }
}

#if DEBUG
  /// What is known of one request. It is used where the request is.
  @usableFromInline
  final class RequestWatch {
    private let request: UnsubmittedRequest
    private let requests: WatchedRequests
    /// Whether a field was set.
    @usableFromInline var isChanged = false
    var isSubmitted = false

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
      /// Whom to tell of more.
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

    /// The transaction has ended.
    /// - Parameter report: Told what was lost; nil if there was nothing to lose.
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
  /// The program has submitted the request, whatever comes of it, or nothing is to be submitted.
  @inline(__always)
  func noteSubmission() {
    #if DEBUG
      watch?.isSubmitted = true
    #endif
  }

  /// The same change, watched by the transaction in which it is made.
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
  /// Nothing more is done with the requests that were made in it.
  @inline(__always)
  func endRequests() {
    #if DEBUG
      if isAborted { return requests.end(nil) }
      let report = workspace.reporter
      requests.end { report($0) }
    #endif
  }
}
