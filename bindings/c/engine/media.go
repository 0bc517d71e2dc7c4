package engine

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
)

// Medium is an image or a recording: the bytes of its file.
type Medium struct {
	Type   chat.PartType // chat.Image or chat.Audio
	Data   []byte
	Budget int  // soft tokens of an image; 0: the model's
	Split  bool // a clip that is too long is cut into several
}

func (m Medium) part(number int) (chat.Part, error) {
	if m.Type != chat.Image && m.Type != chat.Audio {
		return chat.Part{}, fmt.Errorf("%w: medium %d is neither image nor audio", ErrArgument, number)
	}
	if len(m.Data) == 0 {
		return chat.Part{}, fmt.Errorf("%w: medium %d is empty", multimodal.ErrNoBytes, number)
	}
	return chat.Part{Type: m.Type, Data: m.Data, URL: fmt.Sprintf("medium %d", number), Budget: m.Budget,
		Split: m.Split}, nil
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
			if (p.Type != chat.Image && p.Type != chat.Audio) || p.Data != nil || p.URL != "" {
				continue
			}
			if placed == len(media) {
				return fmt.Errorf("%w: the messages have more images and recordings than the %d that came with them",
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
		return fmt.Errorf("%w: %d images and recordings came, and the messages have a place for %d", ErrArgument,
			len(media), placed)
	}
	return nil
}
