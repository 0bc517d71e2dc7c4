package engine

import (
	"fmt"
	"io"
	"os"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// SaveSession writes a session with the conversation that Say carries on. The file appears whole or not at all.
func (e *Engine) SaveSession(h Handle, path string) error {
	return e.between(h, func(s *session) error {
		err := atomicfile.Replace(path, 0o600, func(w io.Writer) error {
			return s.talk.Save(w)
		})
		if err != nil {
			return fmt.Errorf("saving the session: %w", err)
		}
		return nil
	})
}

// RestoreSession replaces a session's text and conversation by saved ones. After an error the session is empty.
func (e *Engine) RestoreSession(h Handle, path string) error {
	return e.between(h, func(s *session) error {
		if err := s.talk.Reset(); err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("restoring a session: %w", err)
		}
		defer file.Close()
		if err := s.talk.Restore(file); err != nil {
			return fmt.Errorf("restoring %s: %w", path, err)
		}
		return nil
	})
}
