/// The version that `orbweaver version` and `orbweaver_build_info` show.
package enum GatewayVersion {
    /// The version of this build.
    package static let current = "0.1.0"
}
