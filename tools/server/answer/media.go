package answer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/outward"
)

// Bounds of media that are named by an address.
const (
	mostMedia     = 16
	mostMediaSize = 32 << 20
)

// outside fetches them.
var outside = sync.OnceValue(func() *http.Client { return outward.Client() })

// fetchMedia gets the bytes of media that are named by their address, where the server may.
func (s *Service) fetchMedia(ctx context.Context, messages []chat.Message) error {
	fetched := 0
	for i := range messages {
		parts := messages[i].Content.Parts()
		for j := range parts {
			p := &parts[j]
			if p.Type == chat.TextPart || p.Data != nil || p.URL == "" || strings.HasPrefix(p.URL, "data:") {
				continue
			}
			if fetched++; fetched > mostMedia {
				return fmt.Errorf("%w: more than %d addresses of media", ErrRequest, mostMedia)
			}
			if err := s.fetchPart(ctx, p); err != nil {
				return err
			}
		}
		if fetched > 0 {
			messages[i].Content = withParts(messages[i].Content, parts)
		}
	}
	return nil
}

// withParts replaces the parts of a content that has any.
func withParts(c chat.Content, parts []chat.Part) chat.Content {
	for _, p := range parts {
		if p.Type != chat.TextPart {
			return chat.Parts(parts...)
		}
	}
	return c
}

func (s *Service) fetchPart(ctx context.Context, p *chat.Part) error {
	address := p.URL
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return fmt.Errorf("%w: %s by the address %.60q; send it as a data: URL", ErrRequest, p.Type, address)
	}
	if !s.FetchMedia {
		return fmt.Errorf("%w: this server fetches no media from addresses; send the %s as a data: URL, or start the "+
			"server with --fetch-media", ErrRequest, p.Type)
	}
	data, err := outward.Fetch(ctx, outside(), address, mostMediaSize)
	if err != nil {
		return fmt.Errorf("%w: the %s at %.100q: %w", ErrRequest, p.Type, address, err)
	}
	p.Data = data
	return nil
}
