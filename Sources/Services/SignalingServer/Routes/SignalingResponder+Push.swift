import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Observability
import Push
import SPiDR

/// Devices that can be reached by push (spidr-wire §11.1).
extension SignalingResponder {
    func registerPushDevice(_ exchange: RequestExchange, with provider: PushProvider) async throws(APIError) -> Answer {
        let (registrar, user) = (try pushRegistrar, exchange.account)
        let registration = try registration("", exchange, with: provider)
        do throws(StorageError) {
            let id = try await registrar.register(registration, of: user)
            return Self.answer(.created, PushDeviceResponse(provider, registration: exchange.path.push(provider, id)))
        } catch {
            throw unusableAccounts(error)
        }
    }

    func updatePushDevice(_ exchange: RequestExchange, with provider: PushProvider) async throws(APIError) -> Answer {
        let (registrar, user, id) = (try pushRegistrar, exchange.account, PushDeviceID(exchange.id))
        let registration = try registration(exchange.id, exchange, with: provider)
        let isFound: Bool
        do throws(StorageError) {
            isFound = try await registrar.update(registration, of: user)
        } catch {
            throw unusableAccounts(error)
        }
        guard isFound else { throw .noSuchPushDevice }
        return Self.answer(.ok, PushDeviceResponse(provider, registration: exchange.path.push(provider, id)))
    }

    func removePushDevice(_ exchange: RequestExchange, with provider: PushProvider) async throws(APIError) -> Answer {
        let registrar = try pushRegistrar
        guard await registrar.remove(PushDeviceID(exchange.id), of: exchange.account, at: provider) != nil else {
            throw .noSuchPushDevice
        }
        return Self.answer(.ok, PushDeviceResponse(provider))
    }

    /// The answer with one registration, or all of the user with the provider.
    func queryPushDevices(
        _ exchange: RequestExchange, with provider: PushProvider, only id: String? = nil
    ) async throws(APIError) -> Answer {
        let found = try await pushRegistrar.registrations(of: exchange.account)
            .filter { $0.registration.provider == provider && id ?? $0.registration.id == $0.registration.id }
        if id != nil, found.isEmpty { throw .noSuchPushDevice }
        return Self.answer(
            .ok,
            PushDeviceResponse(
                provider,
                devices: found.map { stored in
                    PushDeviceField(stored, path: exchange.path.push(provider, PushDeviceID(stored.registration.id)))
                }))
    }

    private var pushRegistrar: any PushRegistrar {
        get throws(APIError) {
            guard let push else { throw .journalUnavailable }
            return push
        }
    }

    private func registration(
        _ id: String, _ exchange: RequestExchange, with provider: PushProvider
    ) throws(APIError) -> PushRegistration {
        let body = try exchange.decodeBare(PushDeviceRequest.self)
        do throws(RequestFault) {
            return try body.registration(id, of: exchange.account.text, with: provider)
        } catch {
            throw APIError(error)
        }
    }

    private func unusableAccounts(_ error: StorageError) -> APIError {
        logger.error("an account cannot be read", metadata: [LogKey.error: "\(error)"])
        return .journalUnavailable
    }

    private static func answer(_ status: HTTPResponse.Status, _ response: PushDeviceResponse) -> Answer {
        .json(status, WireJSON.encode(response))
    }
}

extension APIError {
    fileprivate static let noSuchPushDevice = APIError(
        .pushNotFound, "The user has no such registration; GET lists those that there are.")
}
