import Sockets
import Testing

@Suite struct `Descriptors` {
    @Test func `the limit is raised as far as it goes, and never lowered`() {
        let before = DescriptorLimit.current
        let raised = DescriptorLimit.raise()
        #expect(raised >= before)
        #expect(DescriptorLimit.current == raised)
        #expect((3...raised).contains(DescriptorLimit.inUse))
    }

    @Test func `a spare descriptor is had again after it was given up`() {
        var spare = SpareDescriptor()
        spare.release()
        spare.release()
        let isHeld = spare.isHeld
        #expect(!isHeld)
        let (first, second) = (spare.retake(), spare.retake())
        #expect(first && second)
    }

    @Test func `only errors that pass by themselves count as a limit`() {
        // EMFILE, ENFILE; EINVAL, ECONNABORTED (errno(3)).
        #expect(DescriptorLimit.isReached(24) && DescriptorLimit.isReached(23))
        #expect(!DescriptorLimit.isReached(22) && !DescriptorLimit.isReached(103))
    }
}
