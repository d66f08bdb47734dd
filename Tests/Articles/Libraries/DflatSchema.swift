// Sources/DflatSchema/DflatSchema.docc/DflatSchema.md
import DflatSchema

func compiling() {
  // block 1
}
