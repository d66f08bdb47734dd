// Sources/Empire/Empire.docc/Migrations.md
import Empire

enum Migrations {
  // block 1
}
