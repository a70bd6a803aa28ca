import ArgumentParser
import Foundation
import Gateway

/// The options of commands that ask `/v1` as an application.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The gateway, at the address that clients have.", valueName: "https://host:port"))
    var gateway = "http://127.0.0.1:8080"

    @Option(help: "A key of the application; better in ORBWEAVER_KEY, since others see the options of a command.")
    var key: String?

    /// - Parameter insecure: whether the certificate is not verified.
    /// - Throws: `ValidationError` if there is no key; `AdminClient.Failure` if the address is none.
    func client(insecure: Bool) throws -> AdminClient {
        guard let key = key ?? ProcessInfo.processInfo.environment["ORBWEAVER_KEY"], !key.isEmpty else {
            throw ValidationError("no key: put one of `orbweaver app key add` into ORBWEAVER_KEY")
        }
        let place = try AdminClient.place(url: gateway, port: nil)
        return AdminClient(place, token: key, trustsAnyCertificate: insecure, root: "")
    }
}
