package chat

// The control tokens of the format, as they are spelt.
const (
	bos = "<bos>"

	turnOpen  = "<|turn>"
	turnClose = "<turn|>"

	channelOpen  = "<|channel>"
	channelClose = "<channel|>"
	think        = "<|think|>"

	toolOpen      = "<|tool>"
	toolClose     = "<tool|>"
	callOpen      = "<|tool_call>"
	callClose     = "<tool_call|>"
	responseOpen  = "<|tool_response>"
	responseClose = "<tool_response|>"
	quote         = `<|"|>`

	thought = "thought" // the name of the channel for thinking
)

// mediaMarkers spell one kind of medium: its place in a rendered prompt, and
// what stands around its soft tokens in an encoded one. A video's frames are images.
type mediaMarkers struct{ open, placeholder, close string }

var markersOf = map[PartType]mediaMarkers{
	Image: {"<|image>", "<|image|>", "<image|>"},
	Audio: {"<|audio>", "<|audio|>", "<audio|>"},
	Video: {"<|image>", "<|video|>", "<image|>"},
}
