package import CallRuntime
import Sockets
import Storage

/// Carries out `orbweaver backup` and `orbweaver restore`.
package struct DatabaseBackup: Sendable {
    private let path: String
    private let keyPath: String

    /// Names the database that `storage.path` names.
    package init(_ configuration: GatewayConfiguration) {
        path = configuration.storagePath
        keyPath = configuration.loginKeyPath ?? configuration.storagePath + ".key"
    }

    /// Copies the database into a file that does not exist.
    ///
    /// - Returns: a sentence for the operator.
    /// - Throws: `StorageError.failed`.
    package func write(to file: String) throws(StorageError) -> String {
        FileSizeLimit.reportAsError()
        try DatabaseCopy.back(up: path, to: file)
        return "\(file) is a backup of \(path). The key of remembered logins, \(keyPath), is not in it on purpose."
    }

    /// Puts a backup in the place of the database, which no gateway may use.
    ///
    /// - Returns: a sentence for the operator.
    /// - Throws: `StorageError.failed`.
    package func restore(_ file: String) throws(StorageError) -> String {
        FileSizeLimit.reportAsError()
        let wasThere = try DatabaseCopy.restore(file, to: path)
        return wasThere
            ? "\(path) is \(file) from now on; what it was before is \(path).before-restore."
            : "\(path) is \(file) from now on."
    }
}
