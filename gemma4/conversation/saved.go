package conversation

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// A saved conversation is the magic, the length of its messages as u32, the messages as JSON, the SHA-256 of those, and
// then the session as gemma4 saves it.
const savedMagic = "gemwire conversation 1\n"

// maxSaved bounds the messages, with their media, before they are allocated.
const maxSaved = 1 << 30

// ErrTooLong is returned for a conversation that is too long to be saved.
var ErrTooLong = errors.New("conversation too long")

// Save writes the conversation and what its session has computed. Options are not saved.
func (c *Conversation) Save(w io.Writer) error {
	messages, err := json.Marshal(c.messages)
	if err != nil {
		return err
	}
	if len(messages) > maxSaved {
		return fmt.Errorf("%w: its messages and their media have %d bytes; %d can be saved", ErrTooLong, len(messages),
			maxSaved)
	}
	head := binary.LittleEndian.AppendUint32([]byte(savedMagic), uint32(len(messages)))
	sum := sha256.Sum256(messages)
	for _, part := range [][]byte{head, messages, sum[:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return c.session.Save(w)
}

// Restore replaces the conversation by a saved one of the same model, and goes on from
// there without computing it again. After an error the conversation is empty. A file
// that is not a saved conversation, or is damaged, is gemma4.ErrSavedSession.
func (c *Conversation) Restore(r io.Reader) error {
	if err := c.Reset(); err != nil {
		return err
	}
	messages, err := readMessages(r)
	if err != nil {
		return err
	}
	if err := c.session.Restore(r); err != nil {
		return err
	}
	c.messages = messages
	return nil
}

func readMessages(r io.Reader) (messages []chat.Message, err error) {
	var head [len(savedMagic) + 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:len(savedMagic)]) != savedMagic {
		return nil, fmt.Errorf("%w: it does not begin like one", gemma4.ErrSavedSession)
	}
	n := int64(binary.LittleEndian.Uint32(head[len(savedMagic):]))
	if n > maxSaved {
		return nil, fmt.Errorf("%w: a conversation of %d bytes", gemma4.ErrSavedSession, n)
	}
	raw, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil || int64(len(raw)) != n {
		return nil, fmt.Errorf("%w: it ends in its conversation", gemma4.ErrSavedSession)
	}
	sum, want := sha256.Sum256(raw), make([]byte, sha256.Size)
	if _, err := io.ReadFull(r, want); err != nil || !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: the checksum of its conversation is wrong", gemma4.ErrSavedSession)
	}
	if err := json.Unmarshal(raw, &messages); err != nil {
		return nil, fmt.Errorf("%w: %w", gemma4.ErrSavedSession, err)
	}
	return messages, nil
}
