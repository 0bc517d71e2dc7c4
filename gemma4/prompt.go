package gemma4

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// Prompt is a text to compute: tokens, and the media that stand among them.
type Prompt struct {
	// Tokens has a placeholder wherever a soft token stands.
	Tokens []int32
	// Media are in the order of the text; no two overlap.
	Media []Medium
}

// Medium is an image or a clip in a prompt: Count soft tokens from Tokens[First] on.
type Medium struct {
	First int           `json:"first"`
	Count int           `json:"count"`
	Kind  chat.PartType `json:"kind"` // chat.Image or chat.Audio, or chat.Video for a frame
	// Key tells media apart: what has the same key has the same soft tokens.
	Key string `json:"key"`
	// SoftTokens gives the vectors, [Count, d]. It is called when they are to be
	// computed: not for a medium that the session holds already.
	SoftTokens func(ctx context.Context) ([]float32, error) `json:"-"`
}

// Tokens is a prompt without media.
func Tokens(ids []int32) Prompt { return Prompt{Tokens: ids} }

// end is the position behind the medium.
func (m *Medium) end() int { return m.First + m.Count }

func (m *Medium) same(other *Medium) bool {
	return m.First == other.First && m.Count == other.Count && m.Kind == other.Kind && m.Key == other.Key
}

// maxKey bounds a medium's key, which saved sessions hold.
const maxKey = 256

// check refuses tokens that the vocabulary does not have, and media that do not
// lie in the text.
func (p *Prompt) check(c *arch.Config) error {
	if len(p.Tokens) == 0 {
		return fmt.Errorf("%w: an empty prompt", ErrUnsupported)
	}
	for i, t := range p.Tokens {
		if t < 0 || int(t) >= c.Vocab {
			return fmt.Errorf("%w: token %d at position %d; the vocabulary has tokens 0 to %d", ErrUnsupported, t, i,
				c.Vocab-1)
		}
	}
	free := 0
	for i := range p.Media {
		m := &p.Media[i]
		if m.First < free || m.Count < 1 || m.Count > len(p.Tokens)-m.First {
			return fmt.Errorf("%w: medium %d takes the positions from %d to %d of a text of %d", ErrUnsupported, i,
				m.First, m.end()-1, len(p.Tokens))
		}
		if m.Key == "" || len(m.Key) > maxKey {
			return fmt.Errorf("%w: medium %d has a key of %d bytes, wanted 1 to %d", ErrUnsupported, i, len(m.Key),
				maxKey)
		}
		free = m.end()
	}
	return nil
}

// until is a copy of the first n positions. A medium that is cut keeps its Count.
func (p *Prompt) until(n int) Prompt {
	head := Prompt{Tokens: slices.Clone(p.Tokens[:n])}
	for _, m := range p.Media {
		if m.First < n {
			m.SoftTokens = nil
			head.Media = append(head.Media, m)
		}
	}
	return head
}

// truncate forgets all but the first n positions.
func (p *Prompt) truncate(n int) {
	p.Tokens = p.Tokens[:n]
	for len(p.Media) > 0 && p.Media[len(p.Media)-1].First >= n {
		p.Media = p.Media[:len(p.Media)-1]
	}
}

// commonPrefix is how many positions of both are the same.
func commonPrefix(a, b *Prompt) int {
	n := 0
	for n < len(a.Tokens) && n < len(b.Tokens) && a.Tokens[n] == b.Tokens[n] {
		n++
	}
	for i := 0; i < len(a.Media) || i < len(b.Media); i++ {
		if i < len(a.Media) && i < len(b.Media) && a.Media[i].same(&b.Media[i]) {
			continue
		}
		for _, media := range [][]Medium{a.Media, b.Media} {
			if i < len(media) {
				n = min(n, media[i].First)
			}
		}
		break
	}
	return n
}
