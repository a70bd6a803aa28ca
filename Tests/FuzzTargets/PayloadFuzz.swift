import Audio
import Primitives
import RTP

/// Any bytes as the payload of a packet, or as an element of its header extension, to everybody who looks into one.
package func fuzzPayload(_ bytes: Span<UInt8>) {
    for name in ["VP8", "VP9", "H264", "AV1"] { _ = PictureFormat(encodingName: name)?.startsKeyFrame(bytes) }
    if let level = ClientAudioLevel(parsing: bytes) { precondition(-127...0 ~= level.decibels, "a level is one") }
    let samples = OpusPacket.sampleCount(of: bytes)
    precondition(samples.map { 120...5_760 ~= $0 } ?? true, "a packet of Opus holds 2.5 to 120 ms (RFC 6716 §3.2.5)")
    _ = OpusPacket.carriesRedundancy(bytes)
    for index in bytes.indices {
        for law in [G711.muLaw, .aLaw] {
            let sample = law.decode(bytes[index])
            precondition(law.decode(law.encode(sample)) == sample, "a sample survives coding")
        }
    }
}
