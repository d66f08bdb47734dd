// Sources/Dflat/Dflat.docc/GeneratingCode.md
import PackageDescription

func target() -> Target {
  // block 1
}
