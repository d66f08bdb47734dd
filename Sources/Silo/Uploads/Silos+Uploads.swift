// The upload queues of silos.

extension Silos {
  /// What all runs of a queue share. Two types whose names are equal, and the names of whose queues
  /// are these, are a programmer error.
  func uploadRuns<U: Upload>(of type: U.Type) -> UploadRuns {
    withUploads { uploads in
      let name = U.queueName
      var known = uploads[IDKey(name)] ?? KnownUploads(runs: UploadRuns(clock))
      if name == "\(type)" {
        if let other = known.type, other != type {
          preconditionFailure(
            "the uploads \(String(reflecting: type)) and \(String(reflecting: other)) have queues of "
              + "one name, '\(name)'; give one of them a 'queueName' of its own")
        }
        known.type = type
      }
      uploads[IDKey(name)] = known
      return known.runs
    }
  }
}
