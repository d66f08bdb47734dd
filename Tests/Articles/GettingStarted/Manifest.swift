// Sources/Dflat/Dflat.docc/GettingStarted.md
// block 1.1

func manifest() {
  // block 1.2
}
