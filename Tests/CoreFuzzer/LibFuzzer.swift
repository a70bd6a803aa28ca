import FuzzTargets

private let chosen = FuzzTarget.chosen(from: FuzzTarget.core)

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe chosen.run([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
