package parity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	textparity "github.com/gemwire/gemwire/gemma4/parity"
)

// medium is an image or a clip of a case: with the ids of a prompt around its
// soft tokens, or with a question to ask.
type medium struct {
	kind chat.PartType
	data []byte

	File       string    `json:"file"`
	Budget     int       `json:"budget"`
	Patches    []int     `json:"patches"` // columns, rows
	SoftTokens int       `json:"soft_tokens"`
	SoftEvery  int       `json:"soft_every"` // the reference keeps each so many-th number of them; 0: all
	IDs        []int32   `json:"ids"`
	Question   string    `json:"question"`
	Greedy     []int32   `json:"greedy"`
	Margins    []float64 `json:"margins"`
}

// readMedia reads the images and clips of a model's case whose files are there.
func readMedia(c textparity.Case) ([]medium, error) {
	raw, err := os.ReadFile(c.JSON)
	if err != nil {
		return nil, err
	}
	var file struct {
		Images []medium `json:"images"`
		Clips  []medium `json:"clips"`
		Media  []medium `json:"media"` // of either kind, in an embedding case
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", c.JSON, err)
	}
	for _, m := range file.Media {
		if filepath.Ext(m.File) == ".wav" {
			file.Clips = append(file.Clips, m)
		} else {
			file.Images = append(file.Images, m)
		}
	}
	var list []medium
	for kind, media := range map[chat.PartType][]medium{chat.Image: file.Images, chat.Audio: file.Clips} {
		for _, m := range media {
			m.kind = kind
			m.data, err = os.ReadFile(filepath.Join(filepath.Dir(c.JSON), m.File))
			if errors.Is(err, fs.ErrNotExist) {
				continue // the repository holds the models of some cases without their media
			}
			if err != nil {
				return nil, err
			}
			if len(m.Margins) < len(m.Greedy) {
				return nil, fmt.Errorf("%w: %s of %s lacks margins", textparity.ErrNoCase, m.File, c.JSON)
			}
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b medium) int { return strings.Compare(a.File, b.File) })
	return list, nil
}

// part is the medium in a message.
func (m *medium) part() chat.Part {
	return chat.Part{Type: m.kind, Data: m.data, Budget: m.Budget}
}

// stem is the medium's name in a file of reference tensors.
func (m *medium) stem() string { return strings.TrimSuffix(m.File, filepath.Ext(m.File)) }

// keptOf are the numbers of soft tokens that the reference keeps.
func (m *medium) keptOf(soft []float32) []float32 {
	if m.SoftEvery <= 1 {
		return soft
	}
	var kept []float32
	for i := 0; i < len(soft); i += m.SoftEvery {
		kept = append(kept, soft[i])
	}
	return kept
}

// place is the prompt of the medium's ids: its soft tokens stand where a
// placeholder is repeated as often as they are many.
func (m *medium) place(soft gemma4.Medium) (gemma4.Prompt, error) {
	for first := range m.IDs {
		n := 0
		for first+n < len(m.IDs) && m.IDs[first+n] == m.IDs[first] {
			n++
		}
		if n == m.SoftTokens {
			soft.First = first
			return gemma4.Prompt{Tokens: m.IDs, Media: []gemma4.Medium{soft}}, nil
		}
	}
	return gemma4.Prompt{}, fmt.Errorf("%w: the prompt of %s has no run of %d equal ids", textparity.ErrNoCase, m.File,
		m.SoftTokens)
}

// question is the conversation that the medium is asked about in.
func (m *medium) question() chat.Conversation {
	return chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Parts(
		m.part(), chat.Part{Type: chat.TextPart, Text: m.Question},
	)}}}
}
