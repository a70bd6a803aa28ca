/// Orbweaver with one event loop and one media worker, its journal in a file, over plain HTTP. Alice calls Bob.
struct GatewayBeside: ServerBeside {
    private let gateway: GatewayUnderTest
    private let caller: ScriptedCaller

    var process: ChildProcess { gateway.process }

    init(_ binary: String, at address: String) async throws {
        let gateway = try await GatewayUnderTest(
            binary, store: .file, hasTLS: false,
            settings: GatewayUnderTest.toldAtOnce + ["media.consent_timeout=300s"], address: address,
            core: Cores.ofServers)
        self.gateway = gateway
        do { caller = try await ScriptedCaller(gateway) } catch {
            gateway.stop()
            throw error
        }
    }

    func prepare(_ calls: Int) {}

    func agree(
        on caller: LoadPeer, _ callee: LoadPeer, invited: (_ description: String) throws -> Void
    ) async throws -> AgreedCall {
        let call = try await self.caller.agree(on: caller, callee, invited: invited)
        return AgreedCall(name: call.session, toCaller: call.answer, toCallee: call.offer)
    }

    func hangUp(_ call: AgreedCall) async throws { try await caller.end(call.name) }

    func stop() { gateway.stop() }
}
