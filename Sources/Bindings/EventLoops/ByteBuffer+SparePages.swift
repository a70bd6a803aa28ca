internal import Glibc
package import NIOCore

extension ByteBuffer {
    /// Returns the memory pages behind the written bytes to the system. They read as zero afterwards, and are provided
    /// again when they are written to (madvise(2), `MADV_DONTNEED`).
    ///
    /// This is for a large buffer that is kept for a whole connection, although only its start is used. No other buffer
    /// may have bytes in the storage behind the written ones, as slices of a larger buffer would.
    package func releaseSparePages() {
        unsafe withVeryUnsafeBytes { storage in
            let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
            let start = UInt(bitPattern: storage.baseAddress)
            let first = (start + UInt(writerIndex) + page - 1) / page * page
            let end = (start + UInt(storage.count)) / page * page
            guard first < end else { return }
            // If the kernel refuses, nothing changes.
            _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }
}
