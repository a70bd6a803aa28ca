internal import Audio
package import CallControl
package import HTTPClient
package import Primitives
internal import Sockets

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
        /// The time within which all files of a list must be there; more than 0.
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

    /// A sound that an application wants. One application does not wait for what is fetched for another one.
    private struct Wish: Hashable {
        let url: String
        let application: ApplicationName
    }

    private let configuration: Configuration
    private let folder: SoundFolder?
    private let library: MediaLibrary
    private let fetch: Fetch
    /// What is being fetched, or waits for its place; the result is what went wrong.
    private var loads: [Wish: Task<MediaFileError?, Never>] = [:]
    private var places = FetchPlaces()
    /// Those that wait for a place, by the number of their wish.
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastNumber = 0
    /// How many sounds are asked for and not there yet.
    private(set) var openCount = 0
    /// How many of them wait for a place.
    var waitingCount: Int { waiting.count }

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

    /// Makes the sounds of a list ready to be played, together and within one `answerTime`. If an application asks for
    /// a sound several times at once, all wait for the same answer.
    ///
    /// - Throws: `noSoundFolder`, `notFetched`, or `undecodable`, for the first sound that fails.
    package func load(_ urls: [String], for application: ApplicationName) async throws(MediaFileError) {
        guard let folder else { throw .noSoundFolder }
        let deadline = MonotonicClock.now + configuration.answerTime
        let failure = await withTaskGroup(of: MediaFileError?.self) { group in
            var rest = urls.makeIterator()
            for _ in 0..<FetchPlaces.maximumOfOne {
                guard let url = rest.next() else { break }
                group.addTask { await self.failure(of: Wish(url: url, application: application), deadline, folder) }
            }
            var first: MediaFileError?
            while let ended = await group.next() {
                first = first ?? ended
                guard first == nil, let url = rest.next() else { continue }
                group.addTask { await self.failure(of: Wish(url: url, application: application), deadline, folder) }
            }
            return first
        }
        if let failure { throw failure }
    }

    /// Why a sound is not ready; `nil`: it is.
    private func failure(of wish: Wish, _ deadline: MonotonicTime, _ folder: SoundFolder) async -> MediaFileError? {
        openCount += 1
        defer { openCount -= 1 }
        if let running = loads[wish] { return await running.value }
        let load = Task { await attempt(wish, deadline, folder) }
        loads[wish] = load
        let failure = await load.value
        loads[wish] = nil
        return failure
    }

    private func attempt(_ wish: Wish, _ deadline: MonotonicTime, _ folder: SoundFolder) async -> MediaFileError? {
        guard await takePlace(for: wish.application) else { return .notFetched(wish.url, .busy) }
        defer { leavePlace(of: wish.application) }
        guard MonotonicClock.now < deadline else { return .notFetched(wish.url, .busy) }
        do throws(MediaFileError) {
            try await update(wish.url, deadline, folder)
            return nil
        } catch {
            return error
        }
    }

    /// Waits for a place.
    ///
    /// - Returns: whether there is one.
    private func takePlace(for application: ApplicationName) async -> Bool {
        lastNumber += 1
        let number = lastNumber
        switch places.ask(number, for: application) {
        case .granted: return true
        case .refused: return false
        case .waits:
            await withCheckedContinuation { waiting[number] = $0 }
            return true
        }
    }

    private func leavePlace(of application: ApplicationName) {
        guard let next = places.leave(application) else { return }
        waiting.removeValue(forKey: next)?.resume()
    }

    private func update(
        _ url: String, _ deadline: MonotonicTime, _ folder: SoundFolder
    ) async throws(MediaFileError) {
        var known = library.tag(of: url) ?? folder.tag(of: url)
        while true {
            let response = try await ask(url, unless: known, until: deadline)
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
    private func ask(
        _ url: String, unless tag: String?, until deadline: MonotonicTime
    ) async throws(MediaFileError) -> HTTPResponse {
        let left = deadline - MonotonicClock.now
        guard left > .zero else { throw .notFetched(url, .timedOut) }
        var fields = [
            HTTPField("accept", "audio/ogg, audio/wav;q=0.9, audio/mpeg;q=0.9, */*;q=0.1"),
            HTTPField("user-agent", "orbweaver"),
        ]
        if let tag { fields.append(HTTPField("if-none-match", tag)) }
        do throws(HTTPFailure) {
            return try await fetch(HTTPRequest(.get, url, fields: fields, timeout: left))
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
            case .refusedAddress, .unresolved: .noAddress
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
