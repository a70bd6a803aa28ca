import MediaPlane
import MediaServer
import Primitives
import Sockets
import Testing

#if DEBUG
    /// What is confined to a worker's thread says so in a debug build, at once and where it happens.
    @Suite struct OwnerThreadTests {
        @Test func `an engine that another thread uses ends a debug build`() async {
            await #expect(processExitsWith: .failure) {
                let engine = SendableBox(AudioEngine())
                try WorkerThread(name: "other") { _ = engine.take().startCycle(at: .zero) }.join()
            }
        }

        @Test func `the thread that made it may use it`() async {
            await #expect(processExitsWith: .success) {
                try WorkerThread(name: "own") { _ = AudioEngine().startCycle(at: .zero) }.join()
            }
        }
    }
#endif
