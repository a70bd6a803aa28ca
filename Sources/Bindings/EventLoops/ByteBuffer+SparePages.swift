internal import Glibc
package import NIOCore

extension ByteBuffer {
    /// Gives the memory pages behind the written bytes back to the system; they read as zero afterwards and are there
    /// again as soon as somebody writes to them (madvise(2), `MADV_DONTNEED`).
    ///
    /// For a large buffer that is kept for a whole connection of which only the beginning is ever used. Nobody else may
    /// have bytes in the storage behind these, as slices of a larger buffer would.
    package func releaseSparePages() {
        unsafe withVeryUnsafeBytes { storage in
            let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
            let begin = UInt(bitPattern: storage.baseAddress)
            let first = (begin + UInt(writerIndex) + page - 1) / page * page
            let end = (begin + UInt(storage.count)) / page * page
            guard first < end else { return }
            // A refusal leaves everything as it was.
            _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }
}
