package main

import (
	"strings"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	formats "github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media/samplebuilder"
)

const (
	opusRate   = 48000
	tick       = 20 * time.Millisecond
	tickLength = opusRate / 50
	eventType  = "audio/telephone-event"
	digits     = "0123456789*#ABCD"
)

// codecs are those it speaks; eventRates are in hertz.
func codecs(audio, video string, eventRates []uint32) []webrtc.RTPCodecParameters {
	feedback := []webrtc.RTCPFeedback{
		{Type: "goog-remb"}, {Type: "ccm", Parameter: "fir"}, {Type: "nack"}, {Type: "nack", Parameter: "pli"},
	}
	parameters := map[string]string{
		"VP9":  "profile-id=0",
		"H264": "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
	}
	type capability = webrtc.RTPCodecCapability
	sound := capability{
		MimeType: "audio/" + audio, ClockRate: opusRate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
	}
	pictures := capability{
		MimeType: "video/" + video, ClockRate: 90000, SDPFmtpLine: parameters[video], RTCPFeedback: feedback,
	}
	chosen := []webrtc.RTPCodecParameters{
		{RTPCodecCapability: sound, PayloadType: 111}, {RTPCodecCapability: pictures, PayloadType: 96},
	}
	numbers := map[uint32]webrtc.PayloadType{opusRate: 110, 8000: 126}
	for _, rate := range eventRates {
		events := capability{MimeType: eventType, ClockRate: rate, SDPFmtpLine: "0-15"}
		chosen = append(chosen, webrtc.RTPCodecParameters{RTPCodecCapability: events, PayloadType: numbers[rate]})
	}
	return chosen
}

func payloader(codec string) rtp.Payloader {
	switch codec {
	case "VP8":
		return &formats.VP8Payloader{EnablePictureID: true}
	case "VP9":
		return &formats.VP9Payloader{}
	case "H264":
		return &formats.H264Payloader{}
	}
	return &formats.OpusPayloader{}
}

func depacketizer(codec string) rtp.Depacketizer {
	switch codec {
	case "VP8":
		return &formats.VP8Packet{}
	case "VP9":
		return &formats.VP9Packet{}
	}
	return &formats.H264Packet{}
}

// source is a track that repeats what it was given for ever, and can send telephone events among that.
type source struct {
	kind, codec string
	content     [][]byte
	payloader   rtp.Payloader

	lock        sync.Mutex
	writer      webrtc.TrackLocalWriter
	ssrc        uint32
	payload     uint8
	eventNumber uint8
	eventRate   uint32
	allowed     bool
	pressed     string
	sequence    uint16
}

func newSource(kind, codec string, content [][]byte) *source {
	return &source{kind: kind, codec: codec, content: content, payloader: payloader(codec), allowed: true}
}

// Bind is called when it is agreed that it is sent.
func (s *source) Bind(context webrtc.TrackLocalContext) (webrtc.RTPCodecParameters, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	chosen := webrtc.RTPCodecParameters{}
	for _, each := range context.CodecParameters() {
		if strings.EqualFold(each.MimeType, s.kind+"/"+s.codec) {
			chosen = each
		} else if strings.EqualFold(each.MimeType, eventType) && s.eventRate != opusRate {
			s.eventNumber, s.eventRate = uint8(each.PayloadType), each.ClockRate
		}
	}
	if chosen.MimeType == "" {
		return chosen, webrtc.ErrUnsupportedCodec
	}
	s.writer, s.ssrc, s.payload = context.WriteStream(), uint32(context.SSRC()), uint8(chosen.PayloadType)
	return chosen, nil
}

// Unbind is called when it is sent no longer.
func (s *source) Unbind(webrtc.TrackLocalContext) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.writer = nil
	return nil
}

func (s *source) ID() string                { return s.kind }
func (s *source) RID() string               { return "" }
func (s *source) StreamID() string          { return "pion" }
func (s *source) Kind() webrtc.RTPCodecType { return webrtc.NewRTPCodecType(s.kind) }

func (s *source) allow(sending bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.allowed = sending
}

func (s *source) press(all string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.pressed += all
}

// send writes one packet, if it may be sent at all.
func (s *source) send(payload uint8, timestamp uint32, marker bool, content []byte) {
	if s.writer == nil || !s.allowed {
		return
	}
	s.sequence++
	header := &rtp.Header{
		Version: 2, Marker: marker, PayloadType: payload, SequenceNumber: s.sequence, Timestamp: timestamp, SSRC: s.ssrc,
	}
	_, _ = s.writer.WriteRTP(header, content)
}

func (s *source) playSound() {
	pressing, since, began := -1, uint32(0), uint32(0) // the digit, how long it is down in ticks, and from when
	for number := range ticks(tick) {
		s.lock.Lock()
		timestamp := uint32(number * tickLength)
		if pressing < 0 && s.pressed != "" && s.writer != nil && number%25 == 0 {
			pressing, since, began = strings.IndexByte(digits, s.pressed[0]), 0, timestamp
			s.pressed = s.pressed[1:]
		}
		if pressing < 0 {
			s.send(s.payload, timestamp, false, s.content[number%len(s.content)])
		} else if since++; since < 10 {
			s.send(s.eventNumber, began, since == 1, s.event(pressing, since, false))
		} else { // the end comes three times (RFC 4733 section 2.5.1.4)
			for i := 0; i < 3; i++ {
				s.send(s.eventNumber, began, false, s.event(pressing, since, true))
			}
			pressing = -1
		}
		s.lock.Unlock()
	}
}

// event is the payload of RFC 4733 section 2.3.
func (s *source) event(digit int, ticks uint32, isEnd bool) []byte {
	length := ticks * tickLength / (opusRate / s.eventRate)
	flags := byte(10)
	if isEnd {
		flags |= 0x80
	}
	return []byte{byte(digit), flags, byte(length >> 8), byte(length)}
}

func (s *source) playPictures() {
	if len(s.content) == 0 {
		return
	}
	for number := range ticks(100 * time.Millisecond) {
		s.lock.Lock()
		parts := s.payloader.Payload(1150, s.content[number%len(s.content)])
		for i, part := range parts {
			s.send(s.payload, uint32(number*9000), i == len(parts)-1, part)
		}
		s.lock.Unlock()
	}
}

// ticks counts in real time; what was slept through is left out.
func ticks(interval time.Duration) <-chan int {
	numbers := make(chan int)
	go func() {
		began, number := time.Now(), 0
		for {
			numbers <- number
			number++
			if late := int(time.Since(began)/interval) - 5; late > number {
				number = late
			}
			time.Sleep(time.Until(began.Add(time.Duration(number) * interval)))
		}
	}()
	return numbers
}

func listen(track *webrtc.TrackRemote) {
	var latest uint32
	heard := false
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if !strings.EqualFold(track.Codec().MimeType, eventType) {
			tell(map[string]interface{}{"event": "packet", "data": packet.Payload})
			continue
		}
		if len(packet.Payload) >= 4 && (!heard || packet.Timestamp != latest) && int(packet.Payload[0]) < len(digits) {
			heard, latest = true, packet.Timestamp
			tell(map[string]interface{}{"event": "digit", "is": string(digits[packet.Payload[0]])})
		}
	}
}

func watch(connection *webrtc.PeerConnection, track *webrtc.TrackRemote, codec string) {
	go func() {
		for connection.ConnectionState() != webrtc.PeerConnectionStateClosed {
			_ = connection.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}})
			time.Sleep(time.Second)
		}
	}()
	frames := samplebuilder.New(200, depacketizer(codec), 90000)
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		frames.Push(packet)
		for sample := frames.Pop(); sample != nil; sample = frames.Pop() {
			tell(map[string]interface{}{"event": "frame", "data": sample.Data})
		}
	}
}
