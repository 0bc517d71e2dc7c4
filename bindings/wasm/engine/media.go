package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
)

// Media says what a model takes beside text.
type Media struct {
	Images bool `json:"images"`
	Audio  bool `json:"audio"`
}

// MediaRef says to which part of a conversation the next of the request's binaries
// belongs, and what it holds where that is no file: pixels or samples.
type MediaRef struct {
	Example  int    `json:"example,omitempty"`  // of training data: which line, from 1
	Message  int    `json:"message"`            // which message
	Part     int    `json:"part"`               // which of its parts
	Name     string `json:"name,omitempty"`     // how errors call it
	Format   string `json:"format,omitempty"`   // chat.RGBA or chat.Float32; empty for a file
	Width    int    `json:"width,omitempty"`    // of pixels
	Height   int    `json:"height,omitempty"`   // of pixels
	Rate     int    `json:"rate,omitempty"`     // of samples
	Channels int    `json:"channels,omitempty"` // of samples

	Indices []int   `json:"indices,omitempty"` // of a video's frames: their numbers in the whole
	FPS     float64 `json:"fps,omitempty"`     // of the whole video
}

// place puts the request's binaries into the messages that they belong to.
func (c *call) place(messages []chat.Message, refs []MediaRef) error {
	if len(refs) != len(c.binaries) {
		return fmt.Errorf("%w: %s with %d binaries for %d media", errProtocol, c.Op, len(c.binaries), len(refs))
	}
	for i, ref := range refs {
		if err := placeOne(messages, ref, c.binaries[i]); err != nil {
			return err
		}
	}
	return nil
}

func placeOne(messages []chat.Message, ref MediaRef, data []byte) error {
	part, err := partAt(messages, ref)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return fmt.Errorf("%w: %s %q is empty", multimodal.ErrNoBytes, part.Type, ref.Name)
	}
	part.Data, part.URL, part.Format = data, ref.Name, ref.Format
	part.Width, part.Height, part.Rate, part.Channels = ref.Width, ref.Height, ref.Rate, ref.Channels
	part.Indices = ref.Indices
	if ref.FPS != 0 {
		part.FPS = ref.FPS
	}
	return nil
}

func partAt(messages []chat.Message, ref MediaRef) (*chat.Part, error) {
	if ref.Message < 0 || ref.Message >= len(messages) {
		return nil, fmt.Errorf("%w: a medium of message %d", errProtocol, ref.Message)
	}
	parts := messages[ref.Message].Content.Parts()
	if ref.Part < 0 || ref.Part >= len(parts) {
		return nil, fmt.Errorf("%w: a medium of part %d", errProtocol, ref.Part)
	}
	part := &parts[ref.Part]
	if part.Type == chat.TextPart {
		return nil, fmt.Errorf("%w: a medium of a part of type %.40q", errProtocol, part.Type)
	}
	return part, nil
}

// attach makes a model take media, or say that it was loaded not to.
func attach(model *gemma4.Model, textOnly bool) (*openModel, error) {
	m := &openModel{Model: model}
	if textOnly {
		model.SetMedia(textAlone{})
		return m, nil
	}
	var err error
	m.media, err = multimodal.Attach(model, multimodal.Options{Progress: m.audience.tell})
	return m, err
}

// takes says what the model takes beside text.
func (m *openModel) takes() Media {
	if m.media == nil {
		return Media{}
	}
	return Media{Images: m.media.Images(), Audio: m.media.Audio()}
}

// textAlone refuses media.
type textAlone struct{}

var errTextOnly = fmt.Errorf("%w: an image or a recording, and the model was loaded for text only; load it with "+
	"Model.load", gemma4.ErrUnsupported)

func (textAlone) Key(*chat.Part) (string, error) { return "", errTextOnly }

func (textAlone) Prepare(context.Context, *chat.Part) ([]gemma4.PreparedMedium, error) {
	return nil, errTextOnly
}

// audience is whoever hears how far a model's towers are: the requests that give
// an answer. They take turns at the towers, and all of them hear it.
type audience struct {
	mu       sync.Mutex
	requests map[*call]bool
}

// join lets a request hear until it leaves.
func (a *audience) join(c *call) (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.requests == nil {
		a.requests = map[*call]bool{}
	}
	a.requests[c] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.requests, c)
	}
}

// tell is called between a tower's layers. In a tab, where the computation has
// the only thread, it lets other events have their turn.
func (a *audience) tell(kind chat.PartType, done, total int) {
	a.mu.Lock()
	for c := range a.requests {
		c.event(ChatEvent{Type: "media", Kind: kind, Done: &done, Total: &total})
	}
	a.mu.Unlock()
	time.Sleep(time.Millisecond)
}

func (c *call) releaseTowers(_ context.Context, m *openModel, _ ModelParams) (any, error) {
	if m.media != nil {
		m.media.Release()
	}
	return Nothing{}, nil
}
