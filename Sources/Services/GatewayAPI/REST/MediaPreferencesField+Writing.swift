/// As clients write it.
extension MediaPreferencesField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("audioCodecs", audioCodecs)
            object.member("videoCodecs", videoCodecs)
            object.member("payloadNumbers", payloadNumbers)
            object.member("audioReceiveBandwidth", audioReceiveBandwidth)
            object.member("videoReceiveBandwidth", videoReceiveBandwidth)
            if let opus { object.member("opus", opus) }
        }
    }
}

extension MediaPreferencesField.PayloadNumberField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("codec", codec)
            object.member("number", number)
            if let parameters { object.member("parameters", TextMap(texts: parameters)) }
        }
    }
}

extension MediaPreferencesField.OpusField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("set", set)
            object.member("maxPlaybackRate", maxPlaybackRate)
            object.member("maxAverageBitrate", maxAverageBitrate)
            object.member("dtx", dtx)
            object.member("fec", fec)
            object.member("ptime", ptime)
        }
    }
}

/// Texts by name, written in the order of the names.
private struct TextMap: JSONWritable {
    let texts: [String: String]

    func write(to writer: inout JSONWriter) {
        writer.object { object in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) { object.member(name, text) }
        }
    }
}
