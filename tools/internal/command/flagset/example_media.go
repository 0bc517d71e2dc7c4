package flagset

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// readMedia reads the pictures, recordings and videos that a record's messages name. Paths
// count from the folder that the examples are in.
func (f *Examples) readMedia(r *dataset.Record, folder string) error {
	for _, m := range r.Conversation.Messages {
		parts := m.Content.Parts()
		for i := range parts {
			p := &parts[i]
			named := p.Type != chat.TextPart && p.Data == nil && p.URL != "" && !strings.HasPrefix(p.URL, "data:")
			if !named {
				continue
			}
			read, err := f.Media.Read(MediaFile{p.Type, pathIn(folder, p.URL)})
			if err != nil {
				return &dataset.LineError{Line: r.Line, Err: fmt.Errorf("%w: %w", dataset.ErrLine, err)}
			}
			p.Data, p.Path, p.Split = read.Data, read.Path, p.Split || read.Split
			p.Sound = p.Sound || read.Sound
			if p.FPS == 0 {
				p.FPS = read.FPS
			}
		}
	}
	return nil
}

// pathIn is the path of what an example names, or the address that it is.
func pathIn(folder, name string) string {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		if path, err := url.PathUnescape(rest); err == nil {
			name = path
		}
	}
	if filepath.IsAbs(name) || strings.Contains(name, "://") {
		return name
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}
