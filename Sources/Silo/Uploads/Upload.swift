// Upload: a change that is to be sent to a server, and what a queue does about failures.

public import Foundation

/// A change that is to be sent to a server.
///
///     enum TaskUpload: Upload {
///       case update(UUID), delete(UUID)
///       var orderingKey: String {
///         switch self { case .update(let id), .delete(let id): id.uuidString }
///       }
///     }
///
/// It is encoded as JSON when it is enqueued, and decoded when it is sent.
public protocol Upload: Codable, Sendable {
  /// Uploads with the same key are sent one after another, in the order of their transactions.
  /// Those with different keys are sent side by side.
  var orderingKey: String { get }
  /// The name of the queue; by default the name of the type. Changing it loses sight of what is
  /// waiting.
  static var queueName: String { get }
}

extension Upload {
  /// The name of the type.
  public static var queueName: String { "\(Self.self)" }
}

/// What is known about the sending of an upload.
public struct UploadContext: Sendable {
  /// The idempotency key. It never changes for one upload, so that a server that has seen it can
  /// answer without doing anything twice.
  public let key: UUID
  /// Which attempt this is, from 1 up.
  public let attempt: Int
}

/// What to do with an upload whose sending has failed.
public enum UploadFailure: Sendable {
  /// It is sent again after a pause.
  case retry
  /// It is removed.
  case drop
  /// It is kept until it is retried or removed by hand, and later uploads with its key wait for it.
  case park
}

/// The state of an upload that is not sent yet.
public struct UploadStatus<U: Upload>: Sendable, Identifiable {
  /// What an upload waits for.
  public enum State: Sendable, Equatable {
    /// Its turn.
    case waiting
    /// The answer of the server.
    case running
    /// Its next attempt.
    case pausing(until: Date)
    /// To be retried or removed by hand.
    case parked
  }

  /// The idempotency key.
  public let id: UUID
  /// The upload; nil if it cannot be decoded any more. Such an upload is parked.
  public let upload: U?
  /// The ordering key.
  public let orderingKey: String
  /// What it waits for.
  public let state: State
  /// How many attempts have failed.
  public let attempts: Int
  /// The last failure, in words.
  public let lastError: String?
}
