// Package chat is the conversation format of Gemma 4, and Gemma 3, in both directions.
//
// Outward, a [Template] renders messages, tools and options into a [Prompt]:
// segments of the template's own text, in which control tokens count, of text
// from outside, in which they do not, and of images and audio. The segments
// together spell what the released templates print, character by character;
// [Prompt.Encode] makes token ids of them that nobody can forge a turn in.
//
// Inward, a [Parser] takes the tokens of an answer one by one and gives
// events: text, thinking, tool calls, and why the answer ended.
//
// Read message.go, content.go and tool.go for what goes in, template.go (the
// order of turns), turn.go (one message), declaration.go (tools) and
// argument.go (values) for rendering, prompt.go for the way to ids, then
// event.go and parser.go with stop.go, thinking.go and call.go for the way
// back. The templates' own language shows in value.go and pystring.go.
package chat
