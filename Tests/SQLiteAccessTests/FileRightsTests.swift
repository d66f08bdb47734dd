// The rights of the copies of a file.

import Foundation
import Platform
import SQLiteAccess
import Testing

@Suite("The rights of copies")
struct FileRightsTests {
  @Test("A copy has the mode of its file", arguments: [0o600, 0o640, 0o664] as [mode_t])
  func copied(mode: mode_t) throws {
    try withTemporaryDirectory { directory in
      let (path, copy) = ("\(directory)/a.db", "\(directory)/b.db")
      let source = try makeFilledFile(path)
      #expect(chmod(path, mode) == 0)
      try source.backup(to: copy, pagesPerStep: 1) { _, _ in
        // Also while it is made.
        #expect(self.mode(of: copy) == mode)
        return true
      }
      #expect(self.mode(of: copy) == mode)
      // What is there keeps its own.
      #expect(chmod(copy, 0o604) == 0)
      try source.backup(to: copy)
      #expect(self.mode(of: copy) == 0o604)
    }
  }

  @Test("A copy has the owner of its file, if this process may give it away")
  func owner() throws {
    try withTemporaryDirectory { directory in
      let (path, copy) = ("\(directory)/a.db", "\(directory)/b.db")
      let source = try makeFilledFile(path)
      if getuid() == 0 { #expect(chown(path, 12, 13) == 0) }
      try source.backup(to: copy)
      var (file, made) = (stat(), stat())
      #expect(stat(path, &file) == 0 && stat(copy, &made) == 0)
      #expect(made.st_uid == file.st_uid && made.st_gid == file.st_gid)
    }
  }

  private func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }
}
