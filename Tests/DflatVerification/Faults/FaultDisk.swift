// FaultDisk: the CFaultVFS shim for Swift.

public import CFaultVFS

/// A directory whose files fail on demand; see CFaultVFS.h.
public final class FaultDisk: @unchecked Sendable {
  // Unchecked: the shim has a lock of its own.
  private let disk: OpaquePointer

  /// The directory could not be attached, or an image could not be written.
  public struct Failure: Error {
    let directory: String
    let systemError: Int32
  }

  /// Attaches a directory.
  public init(_ directory: String) throws {
    guard let disk = faultvfs_attach(directory) else {
      throw Failure(directory: directory, systemError: 0)
    }
    self.disk = disk
  }

  deinit { faultvfs_detach(disk) }

  /// Makes the `number`-th call of the given kinds fail, from now on; 0 makes none fail.
  public func arm(_ kinds: Int, number: Int, _ mode: faultvfs_mode) {
    faultvfs_arm(disk, Int32(kinds), Int64(number), mode)
  }

  /// Makes no call fail any more.
  public func disarm() { faultvfs_disarm(disk) }

  /// Makes syncs succeed without having an effect.
  public func lieAboutSyncs() { faultvfs_lie_about_syncs(disk, 1) }

  /// How many calls of the armed kinds there were.
  public var calls: Int { Int(faultvfs_calls(disk)) }

  /// How many calls were made to fail.
  public var failures: Int { Int(faultvfs_failures(disk)) }

  /// The description of the first failed call.
  public var firstFailure: String {
    var text = [CChar](repeating: 0, count: 160)
    faultvfs_describe_failure(disk, &text, Int32(text.count))
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  /// Writes the files that a power failure now would leave to another directory.
  public func writeImage(
    to directory: String, _ survival: faultvfs_survival, seed: UInt64
  ) throws {
    let result = faultvfs_write_image(disk, directory, survival, seed)
    if result != 0 { throw Failure(directory: directory, systemError: result) }
  }
}
