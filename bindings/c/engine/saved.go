package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// A saved conversation is the magic, the length of its messages as u32, the messages as JSON, the SHA-256 of those, and
// then the session as gemma4 saves it.
const savedMagic = "gemwire conversation 1\n"

// maxConversation bounds the messages, with their media, before they are allocated.
const maxConversation = 1 << 30

// SaveSession writes a session with the conversation that Say carries on. The file appears whole or not at all.
func (e *Engine) SaveSession(h Handle, path string) error {
	return e.between(h, func(s *session) error {
		err := atomicfile.Replace(path, 0o600, func(w io.Writer) error {
			if err := writeConversation(w, s.said); err != nil {
				return err
			}
			return s.Session.Save(w)
		})
		if err != nil {
			return fmt.Errorf("saving the session: %w", err)
		}
		return nil
	})
}

func writeConversation(w io.Writer, said []chat.Message) error {
	messages, err := json.Marshal(said)
	if err != nil {
		return err
	}
	if len(messages) > maxConversation {
		return fmt.Errorf("%w: a conversation of %d bytes is too long to save", ErrArgument, len(messages))
	}
	head := binary.LittleEndian.AppendUint32([]byte(savedMagic), uint32(len(messages)))
	sum := sha256.Sum256(messages)
	for _, part := range [][]byte{head, messages, sum[:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// RestoreSession replaces a session's text and conversation by saved ones. After an error the session is empty.
func (e *Engine) RestoreSession(h Handle, path string) error {
	return e.between(h, func(s *session) error {
		s.said = nil
		if err := s.Session.Reset(); err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("restoring a session: %w", err)
		}
		defer file.Close()
		said, err := readConversation(file)
		if err == nil {
			err = s.Session.Restore(file)
		}
		if err != nil {
			return fmt.Errorf("restoring %s: %w", path, err)
		}
		s.said = said
		return nil
	})
}

func readConversation(r io.Reader) (said []chat.Message, err error) {
	var head [len(savedMagic) + 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:len(savedMagic)]) != savedMagic {
		return nil, fmt.Errorf("%w: it does not begin like one", gemma4.ErrSavedSession)
	}
	n := int64(binary.LittleEndian.Uint32(head[len(savedMagic):]))
	if n > maxConversation {
		return nil, fmt.Errorf("%w: a conversation of %d bytes", gemma4.ErrSavedSession, n)
	}
	messages, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil || int64(len(messages)) != n {
		return nil, fmt.Errorf("%w: it ends in its conversation", gemma4.ErrSavedSession)
	}
	sum, want := sha256.Sum256(messages), make([]byte, sha256.Size)
	if _, err := io.ReadFull(r, want); err != nil || !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: the checksum of its conversation is wrong", gemma4.ErrSavedSession)
	}
	if err := json.Unmarshal(messages, &said); err != nil {
		return nil, fmt.Errorf("%w: %w", gemma4.ErrSavedSession, err)
	}
	return said, nil
}
