/// What the session level of a description says for all m-lines.
struct SessionDefaults {
    var transport = PeerTransport()
    var direction = MediaDirection.sendReceive
    var extensions: [HeaderExtension] = []
    var allowsMixedExtensions = false

    init(reading attributes: [Attribute]) throws(SDPError) {
        var reading = TransportReading()
        for attribute in attributes {
            do throws(AttributeFault) {
                if try reading.take(attribute) { continue }
                switch attribute.name {
                case "sendrecv", "sendonly", "recvonly", "inactive":
                    direction = MediaDirection(rawValue: attribute.name) ?? direction
                case "extmap": try extensions.add(reading: attribute)
                case "extmap-allow-mixed": allowsMixedExtensions = true
                default: break
                }
            } catch {
                throw .malformedSession(attribute: error.name)
            }
        }
        transport = reading.transport
    }
}
