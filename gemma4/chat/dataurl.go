package chat

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
)

// Bytes is the medium itself: its Data, or what its URL holds if that is a
// data URL. It is nil for a medium that lies elsewhere.
func (p Part) Bytes() ([]byte, error) {
	rest, ok := strings.CutPrefix(p.URL, "data:")
	if p.Data != nil || !ok {
		return p.Data, nil
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, fmt.Errorf("%w: a data URL without a comma", ErrMessage)
	}
	if strings.HasSuffix(head, ";base64") {
		data, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return nil, fmt.Errorf("%w: a data URL: %w", ErrMessage, err)
		}
		return data, nil
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("%w: a data URL: %w", ErrMessage, err)
	}
	return []byte(text), nil
}

func (p Part) dataURL() string {
	if p.Data == nil {
		return p.URL
	}
	return "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(p.Data)
}
