package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// PartType says what a part of a message is.
type PartType string

// The types of parts.
const (
	TextPart PartType = "text"
	Image    PartType = "image"
	Audio    PartType = "audio"
	Video    PartType = "video"
)

// Part is a piece of a message's content: text, or a medium, which is given by
// its bytes or by where it is.
type Part struct {
	Type   PartType
	Text   string
	Data   []byte // the file, or what it holds decoded
	URL    string // where the file is; beside Data, only its name
	Format string // of audio: "wav", "mp3"; or one of the decoded formats

	// Width and Height are the size of a decoded image, in pixels.
	Width, Height int
	// Rate and Channels are those of a decoded clip: samples a second, and how
	// many stand side by side.
	Rate, Channels int

	// Budget is how many soft tokens an image or a video's frame may take, 70 to 1120; 0
	// leaves it to whoever encodes it.
	Budget int
	// Split says that a clip that is too long is cut into several, instead of
	// refused.
	Split bool

	// Frames is how many frames of a video are taken at most; 0 leaves it to whoever
	// encodes it.
	Frames int
	// FPS is how many frames a second a video has that comes as frames; 0 is unknown.
	FPS float64
	// Indices are, of a video that comes as some of its frames, their numbers in the whole.
	Indices []int
	// Sound says that a video's sound goes in too, as a clip behind the frames.
	Sound bool
	// Path is where a video lies on this machine: a file, or a folder of frames. It has no
	// JSON form: no message from elsewhere can name a file here.
	Path string
}

// The formats of media that come decoded.
const (
	RGBA    = "rgba" // an image's pixels, row by row: red, green, blue and alpha, a byte each; a video's frames in turn
	Float32 = "f32"  // a clip's samples, interleaved, little endian
)

// Content is what a message says: a text, parts, or nothing at all. A tool's
// result may also be any JSON value. The zero Content is nothing.
type Content struct {
	text  *string
	parts []Part
	value json.RawMessage // neither of the above
}

// Text is the content of a message in words alone.
func Text(text string) Content { return Content{text: &text} }

// Parts is the content of a message that holds images or audio.
func Parts(parts ...Part) Content {
	if parts == nil {
		parts = []Part{}
	}
	return Content{parts: parts}
}

// JSON is the content of a tool's message that is not text, such as an object.
func JSON(value json.RawMessage) Content { return Content{value: value} }

// Parts lists the content's parts; a text is one part.
func (c Content) Parts() []Part {
	if c.text != nil {
		return []Part{{Type: TextPart, Text: *c.text}}
	}
	return c.parts
}

// String joins what the content has of text.
func (c Content) String() string {
	var b strings.Builder
	for _, p := range c.Parts() {
		if p.Type == TextPart {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Given tells whether there is a text or a list of parts: neither nothing nor another value of JSON.
func (c Content) Given() bool { return c.text != nil || c.parts != nil }

// UnmarshalJSON reads a string, a list of parts, null, or any other value.
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = Content{}
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0 || string(data) == "null":
		return nil
	case data[0] == '"':
		c.text = new(string)
		return json.Unmarshal(data, c.text)
	case data[0] == '[':
		return json.Unmarshal(data, &c.parts)
	default:
		c.value = bytes.Clone(data)
		return nil
	}
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case c.text != nil:
		return json.Marshal(*c.text)
	case c.parts != nil:
		return json.Marshal(c.parts)
	case c.value != nil:
		return c.value, nil
	}
	return []byte("null"), nil
}

type partJSON struct {
	Type       PartType      `json:"type"`
	Text       *string       `json:"text,omitempty"`
	URL        string        `json:"url,omitempty"`
	ImageURL   *imageURLJSON `json:"image_url,omitempty"`
	InputAudio *audioJSON    `json:"input_audio,omitempty"`
	VideoURL   *videoURLJSON `json:"video_url,omitempty"`
	Budget     int           `json:"budget,omitempty"`
	Split      bool          `json:"split,omitempty"`
	Frames     int           `json:"frames,omitempty"`
	FPS        float64       `json:"fps,omitempty"`
	Sound      bool          `json:"sound,omitempty"`
}

type videoURLJSON struct {
	URL string `json:"url"`
}

type imageURLJSON struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
}

// details are the budgets of OpenAI's levels of detail.
var details = map[string]int{"": 0, "auto": 0, "low": 70, "high": 1120}

type audioJSON struct {
	Data   []byte `json:"data"`
	Format string `json:"format,omitempty"`
}

// UnmarshalJSON reads OpenAI's parts (text, image_url, input_audio), video_url as
// others have it beside these, and the templates' (image, audio, video, with an url or
// nothing). Beside them may stand budget, split, frames, fps and sound, as Part has them.
func (p *Part) UnmarshalJSON(data []byte) error {
	var in partJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*p = Part{Type: in.Type, URL: in.URL, Budget: in.Budget, Split: in.Split, Frames: in.Frames, FPS: in.FPS,
		Sound: in.Sound}
	if in.Text != nil {
		p.Text = *in.Text
	}
	switch in.Type {
	case "image_url", "input_image":
		p.Type = Image
	case "input_audio":
		p.Type = Audio
	case "video_url", "input_video":
		p.Type = Video
	case "input_text", "output_text":
		p.Type = TextPart
	case TextPart, Image, Audio, Video:
	default:
		return fmt.Errorf("%w: a part of type %.40q", ErrMessage, in.Type)
	}
	if in.ImageURL != nil {
		budget, ok := details[in.ImageURL.Detail]
		if !ok {
			return fmt.Errorf("%w: an image of detail %.40q; say low, high or auto", ErrMessage, in.ImageURL.Detail)
		}
		p.URL, p.Budget = in.ImageURL.URL, cmp.Or(in.Budget, budget)
	}
	if in.VideoURL != nil {
		p.URL = in.VideoURL.URL
	}
	if in.InputAudio != nil {
		p.Data, p.Format = in.InputAudio.Data, in.InputAudio.Format
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads. The bytes of an image or a video become a
// data URL.
func (p Part) MarshalJSON() ([]byte, error) {
	switch {
	case p.Format == RGBA || p.Format == Float32:
		return nil, fmt.Errorf("%w: decoded media have no JSON form; keep the file", ErrMessage)
	case p.Type == TextPart:
		return json.Marshal(partJSON{Type: TextPart, Text: &p.Text})
	case p.Type == Audio && p.Data != nil:
		return json.Marshal(partJSON{Type: "input_audio", InputAudio: &audioJSON{p.Data, p.Format}, Split: p.Split})
	case p.Type == Image && (p.URL != "" || p.Data != nil):
		return json.Marshal(partJSON{Type: "image_url", ImageURL: &imageURLJSON{URL: p.dataURL()}, Budget: p.Budget})
	case p.Type == Video && (p.URL != "" || p.Data != nil):
		return json.Marshal(partJSON{Type: "video_url", VideoURL: &videoURLJSON{p.dataURL()}, Budget: p.Budget,
			Split: p.Split, Frames: p.Frames, FPS: p.FPS, Sound: p.Sound})
	default:
		return json.Marshal(partJSON{Type: p.Type, URL: p.URL, Budget: p.Budget, Split: p.Split, Frames: p.Frames,
			FPS: p.FPS, Sound: p.Sound})
	}
}
