package multimodal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// Key implements gemma4.MediaEncoder: a hash of the medium's bytes and of what
// changes its soft tokens.
func (m *Media) Key(part *chat.Part) (string, error) {
	if err := m.check(part); err != nil {
		return "", err
	}
	data, err := identity(part)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	switch part.Type {
	case chat.Image:
		fmt.Fprintf(hash, "image %d %d %d %t\n", m.budget(part), part.Width, part.Height, part.Format == chat.RGBA)
	case chat.Audio:
		fmt.Fprintf(hash, "audio %t %d %d %t\n", part.Split, part.Rate, part.Channels, part.Format == chat.Float32)
	case chat.Video:
		fmt.Fprintf(hash, "video %d %d %g %v %t %t %d %d %t %t\n", m.frameBudget(part), m.frames(part), part.FPS,
			part.Indices, part.Sound, part.Split, part.Width, part.Height, part.Format == chat.RGBA, part.Path != "")
	}
	hash.Write(data)
	return hex.EncodeToString(hash.Sum(nil)), nil
}
