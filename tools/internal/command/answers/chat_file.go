package answers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf/atomicfile"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// ExpectedConversation says what a conversation looks like.
const ExpectedConversation = `expected {"messages":[{"role":"user","content":"Hi"}],"options":{}}`

// ReadConversation reads a conversation: {"messages": […], "options": {…}}.
func ReadConversation(raw []byte, name string) (chat.Conversation, error) {
	var c struct {
		Messages *[]chat.Message `json:"messages"`
		Options  chat.Options    `json:"options"`
	}
	raw, err := flagset.PlainText(raw, name)
	if err != nil {
		return chat.Conversation{}, err
	}
	err = json.Unmarshal(raw, &c)
	if err != nil || c.Messages == nil {
		if err == nil {
			err = errors.New(`it has no "messages"`)
		}
		return chat.Conversation{}, fmt.Errorf("%s is not a conversation: %w; %s", name, err, ExpectedConversation)
	}
	return chat.Conversation{Messages: *c.Messages, Options: c.Options}, nil
}

// maxConversationMB bounds the file of a conversation, pictures in it included.
const maxConversationMB = 512

// ReadConversationFile reads what may hold a conversation.
func ReadConversationFile(ctx context.Context, path string) ([]byte, error) {
	return flagset.ReadFile(ctx, path, maxConversationMB, "a conversation")
}

// savedConversation reads a file that may hold a conversation, and no device or pipe.
func savedConversation(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return ReadConversationFile(ctx, path)
}

func (c *chatLoop) slashSave(ctx context.Context, arg string) error {
	path, err := fileArgument(arg, "/save")
	if err != nil {
		return err
	}
	if old, err := savedConversation(ctx, path); err == nil {
		if _, err := ReadConversation(old, path); err != nil {
			return fmt.Errorf("%s exists already with other content; use another name", path)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.conversation.Messages == nil {
		c.conversation.Messages = []chat.Message{}
	}
	raw, err := json.MarshalIndent(c.conversation, "", "  ")
	if err != nil {
		return err
	}
	err = atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	c.note("saved %s in %s", cli.Counted(len(c.conversation.Messages), "message"), path)
	return nil
}

// findVideos gives videos back their files: a saved conversation has only their names.
func findVideos(messages []chat.Message) {
	for _, m := range messages {
		parts := m.Content.Parts()
		for i := range parts {
			if p := &parts[i]; p.Type == chat.Video && p.Data == nil && p.URL != "" && !strings.Contains(p.URL, ":/") {
				p.Path, _ = filepath.Abs(p.URL)
			}
		}
	}
}

func (c *chatLoop) slashLoad(ctx context.Context, arg string) error {
	path, err := fileArgument(arg, "/load")
	if err != nil {
		return err
	}
	raw, err := savedConversation(ctx, path)
	if err != nil {
		return err
	}
	conversation, err := ReadConversation(raw, path)
	if err != nil {
		return err
	}
	conversation.Options.NoGenerationPrompt = false
	findVideos(conversation.Messages)
	if _, err := c.session.EncodeChat(ctx, conversation); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.conversation = conversation
	c.note("loaded %s; /history shows them", cli.Counted(len(conversation.Messages), "message"))
	return nil
}

// fileArgument is the file that a command names.
func fileArgument(arg, command string) (string, error) {
	if arg == "" {
		return "", fmt.Errorf("%s needs the name of a file", command)
	}
	arg = strings.Trim(arg, `"`)
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	return arg, nil
}
