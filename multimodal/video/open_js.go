package video

import (
	"context"
	"fmt"
)

const inBrowser = "in a browser, the page takes a video apart; give its frames"

// Open refuses: a browser takes a video apart, and FromRGBA takes its frames.
func Open(context.Context, []byte, Options) (*Clip, error) {
	return nil, fmt.Errorf("video: %s: %w", inBrowser, ErrFormat)
}

// OpenPath is Open: there are no files.
func OpenPath(context.Context, string, Options) (*Clip, error) {
	return nil, fmt.Errorf("video: %s: %w", inBrowser, ErrFormat)
}
