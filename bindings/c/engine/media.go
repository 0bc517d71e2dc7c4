package engine

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
)

// Medium is an image, a recording or a video: the bytes of its file.
type Medium struct {
	Type   chat.PartType // chat.Image, chat.Audio or chat.Video
	Data   []byte
	Budget int  // soft tokens of an image or a frame; 0: the model's
	Split  bool // a clip that is too long is cut into several

	// Of videos, as chat.Part has them. Frames whose Indices are given lie in Data as pixels.
	Path          string
	Frames        int
	Sound         bool
	FPS           float64
	Width, Height int
	Indices       []int
}

func (m Medium) part(number int) (chat.Part, error) {
	part := chat.Part{Type: m.Type, Data: m.Data, URL: fmt.Sprintf("medium %d", number), Budget: m.Budget, Split: m.Split}
	switch {
	case m.Type == chat.Video:
		part.Path, part.Frames, part.Sound, part.FPS = m.Path, m.Frames, m.Sound, m.FPS
		if m.Indices != nil {
			part.Format, part.Width, part.Height, part.Indices = chat.RGBA, m.Width, m.Height, m.Indices
		}
	case m.Type != chat.Image && m.Type != chat.Audio:
		return chat.Part{}, fmt.Errorf("%w: medium %d is neither image nor audio nor video", ErrArgument, number)
	case m.Path != "" || m.Frames != 0 || m.Sound || m.FPS != 0 || m.Indices != nil:
		return chat.Part{}, fmt.Errorf("%w: medium %d has settings of a video", ErrArgument, number)
	}
	if len(m.Data) == 0 && m.Path == "" {
		return chat.Part{}, fmt.Errorf("%w: medium %d is empty", multimodal.ErrNoBytes, number)
	}
	if len(m.Data) > 0 && m.Path != "" {
		return chat.Part{}, fmt.Errorf("%w: medium %d has both data and a path", ErrArgument, number)
	}
	return part, nil
}

// userMessage is what a user says, behind the media that it is about.
func userMessage(text string, media []Medium) (chat.Message, error) {
	if len(media) == 0 {
		return chat.Message{Role: chat.User, Content: chat.Text(text)}, nil
	}
	var parts []chat.Part
	for i, m := range media {
		part, err := m.part(i)
		if err != nil {
			return chat.Message{}, err
		}
		parts = append(parts, part)
	}
	if text != "" {
		parts = append(parts, chat.Part{Type: chat.TextPart, Text: text})
	}
	return chat.Message{Role: chat.User, Content: chat.Parts(parts...)}, nil
}

// placeMedia puts media into the parts of a conversation that wait for bytes, in
// order.
func placeMedia(messages []chat.Message, media []Medium) error {
	placed := 0
	for _, message := range messages {
		parts := message.Content.Parts()
		for i := range parts {
			p := &parts[i]
			if p.Type == chat.TextPart || p.Data != nil || p.URL != "" {
				continue
			}
			if placed == len(media) {
				return fmt.Errorf("%w: the messages have more media than the %d that came with them",
					ErrArgument, len(media))
			}
			filled, err := media[placed].part(placed)
			if err != nil {
				return err
			}
			if filled.Type != p.Type {
				return fmt.Errorf("%w: medium %d stands where the messages have %s", ErrArgument, placed, p.Type)
			}
			*p, placed = filled, placed+1
		}
	}
	if placed < len(media) {
		return fmt.Errorf("%w: %d media came, and the messages have a place for %d", ErrArgument,
			len(media), placed)
	}
	return nil
}
