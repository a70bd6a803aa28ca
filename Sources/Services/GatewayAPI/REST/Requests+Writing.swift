package import SPiDR

// Requests as clients write them. The gateway itself writes only the parameters, bodies and candidates in them, which
// it passes on to the other party.

extension SubscribeRequest: JSONWritable {
    /// Writes the request as clients do: `forceLogOut` as text, and only if it is set.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("expires", expires)
            object.member("service", service)
            object.member("notificationType", notificationType)
            object.member("supported", supported.isEmpty ? nil : supported)
            object.member("forceLogOut", forceLogOut ? "true" : nil)
            object.member("clientCorrelator", clientCorrelator)
            object.member("useTurn", useTurn ? true : nil)
        }
    }
}

extension CallControlRequest: JSONWritable {
    /// Writes the request as clients do; members that are `nil` are left out.
    package func write(to writer: inout JSONWriter) {
        writer.object { writeMembers(to: &$0) }
    }

    /// Writes the members into an object that may have others, such as `callMeRequest`.
    func writeMembers(to object: inout JSONWriter) {
        object.member("type", type)
        object.member("from", from)
        object.member("to", to)
        object.member("sdp", sdp)
        object.member("supported", supported)
        object.member("customParameters", customParameters)
        object.member("customBodies", customBodies)
        object.member("address", address)
        object.member("sessionData", sessionData)
        object.member("firstSessionData", firstSessionData)
        object.member("secondSessionData", secondSessionData)
        object.member("iceCandidates", iceCandidates)
        if let mediaPreferences { object.member("mediaPreferences", mediaPreferences) }
    }
}

extension CustomParameterField: JSONWritable {
    /// Writes both members.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("name", name)
            object.member("value", value)
        }
    }
}

extension CustomBodyField: JSONWritable {
    /// Writes the members; `contentDisposition` is left out if it is `nil`.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("contentType", contentType)
            object.member("contentDisposition", contentDisposition)
            object.member("body", body)
        }
    }
}

extension CandidateField: JSONWritable {
    /// Writes the members; those that are `nil` are left out.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("candidate", candidate)
            object.member("sdpMid", sdpMid)
            object.member("sdpMLineIndex", sdpMLineIndex)
            object.member("usernameFragment", usernameFragment)
        }
    }
}

extension MediaRequest: JSONWritable {
    /// Writes the request as clients do; members that are `nil` are left out.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("type", type)
            object.member("to", to)
            object.member("source", source)
            object.member("repeat", `repeat`)
            object.member("offset", offset)
            object.member("digits", digits)
            object.member("duration", duration)
            object.member("gap", gap)
        }
    }
}

extension CallDispositionRequest: JSONWritable {
    /// Writes the request as clients do; `address` is left out if it is `nil`.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("action", action)
            object.member("sessionData", sessionData)
            object.member("address", address)
        }
    }
}

extension CallMeRequest: JSONWritable {
    /// Writes the request as clients do; members that are `nil` are left out.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            call.writeMembers(to: &object)
            object.member("notifyChannelId", notifyChannelId)
        }
    }
}

extension MediaPreferencesField: JSONWritable {}
