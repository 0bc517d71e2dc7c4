package answers

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// attach takes files for the next message, which text is if there is any. What is no
// picture or recording, or none that the model takes, is refused at once.
func (c *chatLoop) attach(ctx context.Context, text string, files []flagset.MediaFile) error {
	for _, file := range files {
		part, err := c.media.Read(file)
		if err == nil {
			_, err = c.towers.Prepare(ctx, &part)
		}
		if err != nil {
			return err
		}
		c.shown = append(c.shown, part)
		c.note("added %s %s", part.Type, flagset.Printable(filepath.Base(file.Path)))
	}
	if text != "" {
		return c.ask(ctx, text)
	}
	c.note("it is sent with your next message")
	return nil
}

func (c *chatLoop) slashImage(ctx context.Context, arg string) error {
	return c.slashMedia(ctx, chat.Image, arg)
}

func (c *chatLoop) slashAudio(ctx context.Context, arg string) error {
	return c.slashMedia(ctx, chat.Audio, arg)
}

func (c *chatLoop) slashVideo(ctx context.Context, arg string) error {
	return c.slashMedia(ctx, chat.Video, arg)
}

// slashMedia takes a file of either kind, whatever its name ends in.
func (c *chatLoop) slashMedia(ctx context.Context, kind chat.PartType, arg string) error {
	switch arg {
	case "":
		if len(c.shown) == 0 {
			return fmt.Errorf("name a file: /%s FILE", kind)
		}
		c.note("with the next message: %s", mediaNames(c.shown))
		return nil
	case "-":
		c.shown = slices.DeleteFunc(c.shown, func(p chat.Part) bool { return p.Type == kind })
		c.note("removed")
		return nil
	}
	path := arg
	if file, ok := flagset.MediaPath(arg); ok {
		path = file.Path
	} else if u := flagset.Unquoted(arg); u != "" {
		path = u
	}
	return c.attach(ctx, "", []flagset.MediaFile{{Kind: kind, Path: path}})
}

// takes says what messages may hold.
func (c *chatLoop) takes() string {
	list := "text"
	if c.towers.Images() {
		list += ", images, videos"
	}
	if c.towers.Audio() {
		list += ", audio"
	}
	return list
}

// mediaNames lists the media among a message's parts.
func mediaNames(parts []chat.Part) string {
	var names []string
	for _, p := range parts {
		if p.Type == chat.TextPart {
			continue
		}
		name := string(p.Type)
		if p.URL != "" && !strings.HasPrefix(p.URL, "data:") {
			name += " " + flagset.Printable(filepath.Base(p.URL))
		}
		names = append(names, "["+name+"]")
	}
	return strings.Join(names, " ")
}
