import GRDB

extension Database {
    /// Carries out changes as one transaction, which is committed, or rolled back if anything throws. No other process
    /// writes meanwhile.
    ///
    /// The statements that start and commit it are prepared once. The library's `inTransaction` prepares them for every
    /// transaction, and those of the journal have few rows.
    ///
    /// - Throws: what `changes` throws, or `DatabaseError` if the transaction cannot be started or committed.
    func inPreparedTransaction<Outcome>(_ changes: () throws -> Outcome) throws -> Outcome {
        try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
        do {
            let outcome = try changes()
            // A full disk may have ended the transaction: nothing of it may count as written.
            guard isInsideTransaction else {
                throw DatabaseError(resultCode: .SQLITE_ABORT, message: "the transaction was ended")
            }
            try cachedStatement(sql: "COMMIT TRANSACTION").execute()
            return outcome
        } catch {
            // The first error says why. If the transaction is over already, this does nothing.
            try? rollback()
            throw error
        }
    }
}
