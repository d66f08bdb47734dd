// TransactionError: why `submit` refused a request.

package import StandardConformances

/// Why a request was refused.
public enum TransactionError: AdvisedError {
  /// The transaction was aborted before.
  case aborted
  /// The primary key, or the value of a unique field, belongs to another object. The request
  /// changed nothing; the transaction continues.
  case objectAlreadyExists
  /// The disk is full. The transaction is aborted.
  case diskFull
  /// Any other failure of the storage. The transaction is aborted; the workspace's error hook
  /// receives the reason.
  case others

  init(_ error: StorageError) {
    switch error.cause {
    case .alreadyExists: self = .objectAlreadyExists
    case .diskFull: self = .diskFull
    default: self = .others
    }
  }

  package var problem: String {
    switch self {
    case .aborted:
      "aborted: the request was submitted after its transaction had been aborted, or had failed"
    case .objectAlreadyExists:
      "objectAlreadyExists: the request's primary key, or one of its unique values, belongs to another object"
    case .diskFull:
      "diskFull: the request needs more space than the disk has left; the transaction is aborted"
    case .others: "others: the storage failed; the transaction is aborted"
    }
  }

  package var advice: String? {
    switch self {
    case .aborted: "call it before abort(), or in another transaction"
    case .objectAlreadyExists:
      "change the key or value and submit the request again, or update that object; the transaction goes on without the request"
    case .diskFull: "free some space, and run the transaction again"
    case .others: "see the reason that the workspace's error hook has received"
    }
  }
}
