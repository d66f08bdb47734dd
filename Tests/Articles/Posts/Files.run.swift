// Sources/SQLiteDflat/SQLiteDflat.docc/Files.md
import Foundation
import SQLiteDflat

let url = URL(filePath: "/data/app/posts.db")
// block 6
