package gemma4

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// AttachAssistant gives the model an assistant: a small model made for it, such as
// gemma-4-E2B-it-assistant, that drafts its next tokens from what it has computed.
// Answers stay what they are and come quicker where the drafts are good: several
// tokens are then computed in one pass over the weights; see Choosing.Drafts.
//
// It is attached before the first session is made, and file is closed with the
// model, or at once on an error: one that wraps arch.ErrAssistant where the file
// holds no assistant or one of another model, ErrBusy where there are sessions, or
// what Open's do. Of opts, only Progress counts.
func (m *Model) AttachAssistant(ctx context.Context, file *gguf.File, opts OpenOptions) error {
	if err := m.attach(ctx, file, opts); err != nil {
		return errors.Join(fmt.Errorf("attaching an assistant: %w", err), file.Close())
	}
	return nil
}

func (m *Model) attach(ctx context.Context, file *gguf.File, opts OpenOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return fmt.Errorf("%w: model", ErrClosed)
	case m.sessions > 0:
		return fmt.Errorf("%w: %d sessions are open; attach it before they are made", ErrBusy, m.sessions)
	case m.assistant != nil:
		return fmt.Errorf("%w: the model has one already", arch.ErrAssistant)
	}
	a, err := arch.OpenAssistant(file, m.arch)
	if err != nil {
		return err
	}
	if err := m.examineAssistant(ctx, a); err != nil {
		return err
	}
	if err := m.engine.AttachAssistant(ctx, a, opts.reportWeights); err != nil {
		return err
	}
	m.assistant = file
	if m.info.Assistant, _ = file.Meta.String("general.name"); m.info.Assistant == "" {
		m.info.Assistant = file.Architecture()
	}
	return nil
}
