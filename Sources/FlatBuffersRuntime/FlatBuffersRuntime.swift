// FlatBuffersRuntime
