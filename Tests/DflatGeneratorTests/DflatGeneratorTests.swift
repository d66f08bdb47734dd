// DflatGeneratorTests
