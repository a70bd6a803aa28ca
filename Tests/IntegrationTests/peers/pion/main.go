// A Pion peer connection that plays packets it is given, and hands on those it gets. Its lines are those of
// peers/process_media.py. What is encoded and decoded is so on the other side of its pipes.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v3"
)

type request struct {
	ID          int               `json:"id"`
	Do          string            `json:"do"`
	SDP         string            `json:"sdp"`
	Provisional bool              `json:"provisional"`
	Restart     bool              `json:"restart"`
	Digits      string            `json:"digits"`
	Kinds       []string          `json:"kinds"`
	Directions  map[string]string `json:"directions"`
	Audio       string            `json:"audio"`
	Video       string            `json:"video"`
	EventRates  []uint32          `json:"event_rates"`
	Setup       string            `json:"setup"`
	Packets     [][]byte          `json:"packets"`
	Frames      [][]byte          `json:"frames"`
}

type peer struct {
	connection *webrtc.PeerConnection
	sources    map[string]*source
	added      map[string]bool
}

// roles in the DTLS handshake, by a=setup of an answer. Without one of them Pion answers a lite peer with `passive`.
var roles = map[string]webrtc.DTLSRole{"active": webrtc.DTLSRoleClient, "passive": webrtc.DTLSRoleServer}

var (
	writing sync.Mutex
	output  = bufio.NewWriter(os.Stdout)
)

func tell(fields map[string]interface{}) {
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	writing.Lock()
	defer writing.Unlock()
	_, _ = output.Write(append(line, '\n'))
	_ = output.Flush()
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	var own *peer
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err = json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		sdp := ""
		if asked.Do == "begin" {
			own, err = begin(asked)
		} else {
			sdp, err = own.do(asked)
		}
		if err != nil {
			tell(map[string]interface{}{"id": asked.ID, "error": err.Error()})
		} else {
			tell(map[string]interface{}{"id": asked.ID, "sdp": sdp})
		}
	}
}

func begin(asked request) (*peer, error) {
	engine := &webrtc.MediaEngine{}
	for _, codec := range codecs(asked.Audio, asked.Video, asked.EventRates) {
		kind := webrtc.RTPCodecTypeAudio
		if codec.ClockRate == 90000 {
			kind = webrtc.RTPCodecTypeVideo
		}
		if err := engine.RegisterCodec(codec, kind); err != nil {
			return nil, err
		}
	}
	interceptors := &interceptor.Registry{}
	if err := webrtc.RegisterDefaultInterceptors(engine, interceptors); err != nil {
		return nil, err
	}
	logs := logging.NewDefaultLoggerFactory()
	logs.Writer = os.Stderr // by default among the lines of JSON
	settings := webrtc.SettingEngine{LoggerFactory: logs}
	settings.SetIncludeLoopbackCandidate(true)
	if role, chosen := roles[asked.Setup]; chosen {
		if err := settings.SetAnsweringDTLSRole(role); err != nil {
			return nil, err
		}
	}
	api := webrtc.NewAPI(
		webrtc.WithMediaEngine(engine), webrtc.WithInterceptorRegistry(interceptors), webrtc.WithSettingEngine(settings),
	)
	connection, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		tell(map[string]interface{}{"event": "state", "is": state.String()})
	})
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if track.Kind() == webrtc.RTPCodecTypeAudio {
			listen(track)
		} else {
			watch(connection, track, asked.Video)
		}
	})
	own := &peer{connection, map[string]*source{}, map[string]bool{}}
	own.sources["audio"] = newSource("audio", asked.Audio, asked.Packets)
	own.sources["video"] = newSource("video", asked.Video, asked.Frames)
	go own.sources["audio"].playSound()
	go own.sources["video"].playPictures()
	return own, nil
}

func (p *peer) do(asked request) (string, error) {
	switch asked.Do {
	case "offer":
		if err := p.add(asked.Kinds); err != nil {
			return "", err
		}
		offer, err := p.connection.CreateOffer(&webrtc.OfferOptions{ICERestart: asked.Restart})
		if err != nil {
			return "", err
		}
		return p.describe(offer)
	case "answer":
		if err := p.add(asked.Kinds); err != nil {
			return "", err
		}
		offer := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: asked.SDP}
		if err := p.connection.SetRemoteDescription(offer); err != nil {
			return "", err
		}
		answer, err := p.connection.CreateAnswer(nil)
		if err != nil {
			return "", err
		}
		return p.describe(answer)
	case "accept":
		kind := webrtc.SDPTypeAnswer
		if asked.Provisional {
			kind = webrtc.SDPTypePranswer
		}
		return "", p.connection.SetRemoteDescription(webrtc.SessionDescription{Type: kind, SDP: asked.SDP})
	case "send":
		for kind, direction := range asked.Directions {
			p.sources[kind].allow(direction == "sendrecv" || direction == "sendonly")
		}
		return "", nil
	case "press":
		p.sources["audio"].press(asked.Digits)
		return "", nil
	}
	return "", fmt.Errorf("cannot %s", asked.Do)
}

func (p *peer) add(kinds []string) error {
	for _, kind := range kinds {
		if p.added[kind] {
			continue
		}
		p.added[kind] = true
		sender, err := p.connection.AddTrack(p.sources[kind])
		if err != nil {
			return err
		}
		go func() { // reports and requests go to the interceptors only while somebody reads
			buffer := make([]byte, 1500)
			for {
				if _, _, err := sender.Read(buffer); err != nil {
					return
				}
			}
		}()
	}
	return nil
}

func (p *peer) describe(description webrtc.SessionDescription) (string, error) {
	gathered := webrtc.GatheringCompletePromise(p.connection)
	if err := p.connection.SetLocalDescription(description); err != nil {
		return "", err
	}
	<-gathered
	return p.connection.LocalDescription().SDP, nil
}
