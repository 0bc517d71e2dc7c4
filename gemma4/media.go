package gemma4

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// MediaEncoder makes soft tokens of the images and clips in a conversation.
// Package multimodal has one. Its methods may be called from several goroutines.
type MediaEncoder interface {
	// Key tells media apart: parts with the same key have the same soft tokens.
	// It decodes nothing.
	Key(part *chat.Part) (string, error)
	// Prepare reads a medium as far as to know its soft tokens' number. A clip
	// that is to be split gives one for each of its pieces, in order, a video one for each
	// frame.
	Prepare(ctx context.Context, part *chat.Part) ([]PreparedMedium, error)
}

// PreparedMedium is an image or a clip before the towers.
type PreparedMedium interface {
	// Count is the number of soft tokens.
	Count() int
	// Encode computes them, [Count, d].
	Encode(ctx context.Context) ([]float32, error)
}

// PlacedMedium is a PreparedMedium that says what stands in front of it, and which soft
// tokens it gives where those are not of the part's own type. The Piece's Count is not read.
type PlacedMedium interface {
	PreparedMedium
	Piece() chat.Piece
}

// SetMedia makes conversations of the model take images and clips. An encoder
// that is an io.Closer is closed with the model.
func (m *Model) SetMedia(e MediaEncoder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.media = e
}

func (m *Model) mediaEncoder() (MediaEncoder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.media == nil {
		return nil, fmt.Errorf("%w: an image or audio, and no encoder is attached; call "+
			"multimodal.Attach, or send only text", ErrUnsupported)
	}
	return m.media, nil
}

// EncodeChat is the prompt that Chat computes. Images and clips are read, but
// their soft tokens are not computed yet.
func (m *Model) EncodeChat(ctx context.Context, c chat.Conversation) (Prompt, error) {
	return m.encodeChat(ctx, c, &softCache{})
}

// EncodeChat is Model.EncodeChat for a prompt of this session: media that it
// has seen are not read again.
func (s *Session) EncodeChat(ctx context.Context, c chat.Conversation) (Prompt, error) {
	return s.model.encodeChat(ctx, c, &s.soft)
}

func (m *Model) encodeChat(ctx context.Context, c chat.Conversation, cache *softCache) (Prompt, error) {
	if err := chat.CheckRoles(c.Messages); err != nil {
		return Prompt{}, err
	}
	rendered, err := m.template.Render(c.Messages, c.Options)
	if err != nil {
		return Prompt{}, err
	}
	p := placing{ctx: ctx, model: m, cache: cache, sources: map[string]*mediaSource{},
		parts: map[*chat.Part]*mediaSource{}}
	encoded, err := rendered.Encode(m.tokenizer, p.place)
	if err != nil {
		return Prompt{}, err
	}
	prompt := Prompt{Tokens: int32s(encoded.IDs)}
	for _, at := range encoded.Media {
		source := p.parts[at.Part]
		prompt.Media = append(prompt.Media, Medium{
			First: at.First, Count: at.Count, Kind: cmp.Or(source.pieces[at.Piece].Type, at.Part.Type),
			Key:        source.pieceKey(at.Piece),
			SoftTokens: func(ctx context.Context) ([]float32, error) { return source.encode(ctx, at.Piece) },
		})
	}
	return prompt, nil
}

// placing finds out how many soft tokens each medium of a conversation has.
type placing struct {
	ctx     context.Context
	model   *Model
	cache   *softCache
	sources map[string]*mediaSource // by key: what is there twice is read once
	parts   map[*chat.Part]*mediaSource
}

func (p *placing) place(part *chat.Part) ([]chat.Piece, error) {
	encoder, err := p.model.mediaEncoder()
	if err != nil {
		return nil, err
	}
	key, err := encoder.Key(part)
	if err != nil {
		return nil, err
	}
	source := p.sources[key]
	if source == nil {
		source = &mediaSource{encoder: encoder, part: part, key: key, pieces: p.cache.pieces(key)}
		p.sources[key] = source
	}
	p.parts[part] = source
	if source.pieces == nil {
		if err := source.prepare(p.ctx); err != nil {
			return nil, err
		}
		p.cache.setPieces(key, source.pieces)
	}
	return source.pieces, nil
}

// mediaSource is an image or a clip of a conversation.
type mediaSource struct {
	encoder  MediaEncoder
	part     *chat.Part
	key      string
	pieces   []chat.Piece
	prepared []PreparedMedium
}

func (s *mediaSource) prepare(ctx context.Context) (err error) {
	if s.prepared, err = s.encoder.Prepare(ctx, s.part); err != nil {
		return err
	}
	s.pieces = PiecesOf(s.prepared)
	return nil
}

// PiecesOf are the places that media take in a prompt.
func PiecesOf(media []PreparedMedium) []chat.Piece {
	pieces := make([]chat.Piece, len(media))
	for i, m := range media {
		if placed, ok := m.(PlacedMedium); ok {
			pieces[i] = placed.Piece()
		}
		pieces[i].Count = m.Count()
	}
	return pieces
}

func (s *mediaSource) encode(ctx context.Context, piece int) ([]float32, error) {
	if s.prepared == nil {
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
	if piece >= len(s.prepared) {
		return nil, fmt.Errorf("%w: piece %d of a medium of %d", ErrUnsupported, piece, len(s.prepared))
	}
	return s.prepared[piece].Encode(ctx)
}

// pieceKey is the key of one piece.
func (s *mediaSource) pieceKey(piece int) string {
	if len(s.pieces) == 1 {
		return s.key
	}
	return fmt.Sprintf("%s %d/%d", s.key, piece+1, len(s.pieces))
}

// seenAtOnce says whether each of a medium's soft tokens sees all of them.
func (m *Model) seenAtOnce(medium Medium) bool {
	return medium.Kind != chat.Audio && m.arch.Config.BidirectionalImages()
}
