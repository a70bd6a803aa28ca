import CallRuntime
import GRDB

/// Runs `body` and turns whatever the library throws into a `StorageError`. GRDB leaves statement arguments out of its
/// descriptions, so no password record reaches a log this way.
func storageErrors<Value>(_ body: () async throws -> Value) async throws(StorageError) -> Value {
    do {
        return try await body()
    } catch let error as StorageError {
        throw error
    } catch {
        throw .failed("\(error)")
    }
}
