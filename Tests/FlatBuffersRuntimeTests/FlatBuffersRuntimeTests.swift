// FlatBuffersRuntimeTests
