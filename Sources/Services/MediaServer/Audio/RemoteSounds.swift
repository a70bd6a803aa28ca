internal import Audio
package import CallControl
package import HTTPClient
package import Primitives

/// Sounds of other servers, by their URLs.
///
/// Each time a sound is to be played its server is asked whether it has another one by now (RFC 9110 §13.1.2). What
/// has an entity tag is kept in a folder, also for the next process.
package actor RemoteSounds {
    /// Where sounds are kept, and from where they may come.
    package struct Configuration: Equatable, Sendable {
        /// The folder that sounds are kept in; `nil`: none are fetched.
        package var folder: String?
        /// The bytes that the folder may take, 1 or more, with each file rounded up to 4 KB; what was asked for longest
        /// ago makes room.
        package var bytes = 1_000_000_000
        /// The bytes of the largest file, 1 or more.
        package var largest = 16_000_000
        /// The time within which a file must be there; more than 0.
        package var answerTime = Duration.seconds(10)
        /// Addresses that may be asked although the Internet does not route them.
        package var allowedAddresses: [IPAddressRange] = []
        /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
        package var authorityPath: String?

        /// Makes a configuration with the default of each property.
        package init() {}

        /// The limits of the client that fetches.
        package var client: HTTPClient.Configuration {
            var limits = HTTPClient.Configuration()
            limits.connectionsPerHost = 8
            limits.largestResponse = largest
            limits.addresses.allowed = allowedAddresses
            limits.authorityFile = authorityPath
            return limits
        }
    }

    /// Sends a request, and waits for the response.
    package typealias Fetch = @Sendable (HTTPRequest) async throws(HTTPFailure) -> HTTPResponse

    /// The most sounds that are fetched at a time.
    package static let maximumLoads = 32

    private let configuration: Configuration
    private let folder: SoundFolder?
    private let library: MediaLibrary
    private let fetch: Fetch
    /// What is being fetched, by URL.
    private var loads: [String: Task<Result<Void, MediaFileError>, Never>] = [:]

    /// Makes the sounds of a library.
    ///
    /// - Parameter fetch: asks other servers; with the limits of `Configuration.client`.
    package init(_ configuration: Configuration, in library: MediaLibrary, fetch: @escaping Fetch) {
        self.configuration = configuration
        folder = configuration.folder.map { SoundFolder(path: $0, limit: configuration.bytes) }
        self.library = library
        self.fetch = fetch
        folder?.removeLeftovers()
    }

    /// Makes a sound ready to be played. Those who ask for one at the same time wait for the same answer.
    ///
    /// - Throws: `noSoundFolder`, `notFetched`, or `undecodable`.
    package func load(_ url: String) async throws(MediaFileError) {
        guard let folder else { throw .noSoundFolder }
        if let running = loads[url] { return try await running.value.get() }
        guard loads.count < Self.maximumLoads else { throw .notFetched(url, .busy) }
        let load = Task { await attempt(url, folder) }
        loads[url] = load
        let result = await load.value
        loads[url] = nil
        try result.get()
    }

    private func attempt(_ url: String, _ folder: SoundFolder) async -> Result<Void, MediaFileError> {
        do throws(MediaFileError) {
            try await update(url, folder)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func update(_ url: String, _ folder: SoundFolder) async throws(MediaFileError) {
        var known = library.tag(of: url) ?? folder.tag(of: url)
        while true {
            let response = try await ask(url, unless: known)
            switch response.status {
            case 200:
                let tag = response.value(of: "etag").flatMap { SoundFolder.isTag($0) ? $0 : nil }
                try await library.take(response.content, from: url, tag: tag)
                if let tag { folder.keep(response.content, from: url, tag: tag) } else { folder.remove(url) }
                return
            case 304:
                guard let tag = known else { throw .notFetched(url, .status(304)) }
                folder.use(url)
                if library.isCurrent(url, tag: tag) { return }
                if try await restore(url, tag: tag, from: folder) { return }
                // What was kept is gone or damaged: it is fetched anew.
                known = nil
            default: throw .notFetched(url, .status(response.status))
            }
        }
    }

    /// Reads what the folder has of a sound.
    ///
    /// - Returns: whether it has it.
    /// - Throws: `notFetched` if there is no memory for it.
    private func restore(_ url: String, tag: String, from folder: SoundFolder) async throws(MediaFileError) -> Bool {
        guard let content = folder.content(of: url, tag: tag) else { return false }
        do throws(MediaFileError) {
            try await library.take(content, from: url, tag: tag)
            return true
        } catch {
            if case .notFetched = error { throw error }
            folder.remove(url)
            return false
        }
    }

    /// - Parameter tag: the entity tag of what is known already; `nil`: nothing is.
    private func ask(_ url: String, unless tag: String?) async throws(MediaFileError) -> HTTPResponse {
        var fields = [
            HTTPField("accept", "audio/ogg, audio/wav;q=0.9, */*;q=0.1"), HTTPField("user-agent", "orbweaver"),
        ]
        if let tag { fields.append(HTTPField("if-none-match", tag)) }
        do throws(HTTPFailure) {
            return try await fetch(HTTPRequest(.get, url, fields: fields, timeout: configuration.answerTime))
        } catch {
            throw .notFetched(url, SoundFetchError(error, limit: configuration.largest))
        }
    }
}

extension SoundFetchError {
    /// - Parameter limit: the bytes of the largest file.
    fileprivate init(_ failure: HTTPFailure, limit: Int) {
        self =
            switch failure {
            case .unusableURL, .unusableField: .unusableURL
            case .refusedAddress: .refusedAddress
            case .unresolved: .unknownHost
            case .notConnected: .notConnected
            case .untrusted: .untrusted
            case .connectionLost: .connectionLost
            case .timedOut: .timedOut
            case .responseTooLarge: .tooLarge(limit: limit)
            case .tooManyWaiting: .busy
            case .cancelled, .shutDown: .stopping
            }
    }
}
