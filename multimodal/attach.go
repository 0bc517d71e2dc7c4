package multimodal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/video"
)

// What a caller can act on, beside the errors of the packages below: arch's for
// a model without towers, picture's and sound's for media that cannot be read.
var (
	// ErrOptions says that something was asked for that no model takes.
	ErrOptions = errors.New("unusable media options")
	// ErrNoBytes says that a medium came without its bytes.
	ErrNoBytes = errors.New("the medium is not here")
)

// Options say how media are encoded. The zero value is a good choice.
type Options struct {
	// ImageBudget is how many soft tokens an image takes at most where its part
	// says nothing, 70 to 1120; 0 means picture.DefaultBudget.
	ImageBudget int
	// FrameBudget is the same for the frames of a video; 0 means video.DefaultBudget.
	FrameBudget int
	// VideoFrames is how many frames of a video are taken at most where its part says
	// nothing; 0 means video.DefaultFrames.
	VideoFrames int
	// Device is where the towers are computed; DeviceAuto means where the model
	// is, and the CPU where its GPU has no room for them.
	Device gemma4.Device
	// Pictures bounds what is decoded.
	Pictures picture.Limits
	// LongestClip bounds clips that are to be split; 0 means DefaultLongestClip.
	// All others may have sound.MaxDuration.
	LongestClip time.Duration
	// Progress, where set, hears how much of an image or a clip is encoded, and how many
	// frames of a video are decoded.
	Progress func(kind chat.PartType, done, total int)
}

// DefaultLongestClip is how long a clip may be that is split into several.
const DefaultLongestClip = 15 * time.Minute

// MinImageBudget is the least that an image may be given; arch.MaxImageTokens is the most.
const MinImageBudget = 70

// CheckImageBudget refuses budgets that are no number of soft tokens for an
// image; 0 leaves the choice open.
func CheckImageBudget(n int) error {
	if n != 0 && (n < MinImageBudget || n > arch.MaxImageTokens) {
		return fmt.Errorf("%w: an image budget of %d soft tokens; give %d to %d", ErrOptions, n, MinImageBudget,
			arch.MaxImageTokens)
	}
	return nil
}

// Media encodes the images, clips and videos in a model's conversations. Its towers are
// loaded when the first ones come.
type Media struct {
	model   *gemma4.Model // nil beside an embedding model
	options Options
	towers  *arch.Towers
	broken  error    // why the file's towers cannot be used
	sight   *sight   // nil for a model that does not see
	hearing *hearing // nil for one that does not hear

	decoding chan struct{} // has room for one: media are decoded one after another

	mu     sync.Mutex // held while a tower is loaded or at work
	vision visionTower
	audio  audioTower
}

// Attach makes conversations of a model take images and clips. Nothing is
// loaded: a model whose file has no towers, or broken ones, says so when it is
// given a medium. The towers are released with the model.
func Attach(model *gemma4.Model, options Options) (*Media, error) {
	if options.Device == gemma4.DeviceGPU && model.Kit() == nil {
		return nil, fmt.Errorf("%w: towers on the GPU with a model on the CPU; open the model on the GPU", ErrOptions)
	}
	m, err := newMedia(model.File(), model.Config().EmbeddingLength, options)
	if err != nil {
		return nil, err
	}
	m.model = model
	model.SetMedia(m)
	return m, nil
}

// newMedia finds the towers of a file, which make soft tokens of so many values.
func newMedia(file *gguf.File, width int, options Options) (*Media, error) {
	for _, err := range []error{CheckImageBudget(options.ImageBudget), CheckImageBudget(options.FrameBudget),
		CheckVideoFrames(options.VideoFrames)} {
		if err != nil {
			return nil, err
		}
	}
	options.ImageBudget = cmp.Or(options.ImageBudget, picture.DefaultBudget)
	options.FrameBudget = cmp.Or(options.FrameBudget, video.DefaultBudget)
	options.VideoFrames = cmp.Or(options.VideoFrames, video.DefaultFrames)
	options.LongestClip = cmp.Or(options.LongestClip, DefaultLongestClip)
	m := &Media{options: options, decoding: make(chan struct{}, 1)}
	m.towers, m.broken = arch.Open(file, width)
	m.sight, m.hearing = sightOf(m.towers), hearingOf(m.towers)
	return m, nil
}

// Images says whether the model sees.
func (m *Media) Images() bool { return m.sight != nil }

// Audio says whether the model hears.
func (m *Media) Audio() bool { return m.hearing != nil }

// Release frees the towers until the next medium comes. It waits for one that is
// being encoded.
func (m *Media) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.vision != nil {
		m.vision.Close()
	}
	if m.audio != nil {
		m.audio.Close()
	}
	m.vision, m.audio = nil, nil
}

// Close is Release, for the model that closes.
func (m *Media) Close() error {
	m.Release()
	return nil
}

// Prepare implements gemma4.MediaEncoder.
func (m *Media) Prepare(ctx context.Context, part *chat.Part) ([]gemma4.PreparedMedium, error) {
	if err := m.check(part); err != nil {
		return nil, err
	}
	prepare := m.prepareImage
	switch part.Type {
	case chat.Audio:
		prepare = m.prepareClip
	case chat.Video:
		prepare = m.prepareVideo
	}
	prepared, err := m.oneByOne(ctx, part, prepare)
	if err != nil && (part.Data != nil || part.Path != "") && part.URL != "" {
		err = fmt.Errorf("%s: %w", shortened(part.URL), err)
	}
	return prepared, err
}

// oneByOne decodes a medium when no other conversation decodes one: a picture takes up to 11 bytes a pixel until it has
// the size that the tower sees. A video has one frame at a time, and may take long, so that nobody waits for it.
func (m *Media) oneByOne(ctx context.Context, part *chat.Part,
	prepare func(context.Context, *chat.Part) ([]gemma4.PreparedMedium, error)) ([]gemma4.PreparedMedium, error) {
	if part.Type != chat.Video {
		select {
		case m.decoding <- struct{}{}:
			defer func() { <-m.decoding }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return prepare(ctx, part)
}

// check refuses parts that this model, or any, cannot take.
func (m *Media) check(part *chat.Part) (err error) {
	if m.broken != nil {
		return fmt.Errorf("the model's file has image or audio towers that cannot be used: %w", m.broken)
	}
	switch part.Type {
	case chat.Image:
		if err = m.towers.NeedImages(); err == nil {
			err = CheckImageBudget(part.Budget)
		}
	case chat.Audio:
		err = m.towers.NeedSound()
	case chat.Video:
		err = m.checkVideo(part)
	default:
		err = fmt.Errorf("%w: a part of type %q; parts are text, image, audio and video", ErrOptions, part.Type)
	}
	return err
}

// budget is how many soft tokens an image may take.
func (m *Media) budget(part *chat.Part) int {
	if part.Budget != 0 {
		return part.Budget
	}
	return m.options.ImageBudget
}

// bytesOf is the medium itself.
func bytesOf(part *chat.Part) ([]byte, error) {
	data, err := part.Bytes()
	if err != nil {
		return nil, err
	}
	switch {
	case len(data) > 0:
		return data, nil
	case part.Data == nil && part.URL != "":
		return nil, fmt.Errorf("%w: %s %q is named by where it lies; read or fetch it and give its bytes", ErrNoBytes,
			part.Type, shortened(part.URL))
	}
	return nil, fmt.Errorf("%w: %s without bytes", ErrNoBytes, part.Type)
}

// shortened is a name as errors give it.
func shortened(name string) string {
	const most = 100
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
