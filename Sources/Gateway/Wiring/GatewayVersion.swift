/// What `orbweaver version` and `orbweaver_build_info` say.
package enum GatewayVersion {
    package static let current = "0.1.0"
}
