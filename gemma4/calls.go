package gemma4

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
)

// Calls say whether an answer calls the tools of its conversation. The zero value leaves
// that to the model, and holds the calls that it makes to the tools' declarations.
type Calls struct {
	// Choice is grammar.ToolAuto, ToolNone, ToolRequired or ToolNamed.
	Choice grammar.ToolChoice
	// Name is the tool to call, with ToolNamed.
	Name string
	// Single allows one call in an answer. Without it there may be several.
	Single bool
	// Free holds calls to nothing: they may be malformed, or of tools that do not exist.
	Free bool
}

// Form is what an answer to a conversation with these tools is held to; nil where it is free.
func (c Calls) Form(tools []chat.Tool) *Form {
	if c.Free || len(tools) == 0 && c.Choice != grammar.ToolRequired && c.Choice != grammar.ToolNamed {
		return nil
	}
	held := &grammar.Tools{Choice: c.Choice, Name: c.Name, Parallel: !c.Single}
	for _, t := range tools {
		parameters := string(t.Parameters)
		if parameters == "null" {
			parameters = ""
		}
		held.Declarations = append(held.Declarations, grammar.Declaration{Name: t.Name, Parameters: parameters})
	}
	return &Form{Tools: held}
}

// ParseCalls reads a choice as OpenAI's API has it: none, auto, required, or the name of a
// tool. "" is auto; free holds calls to nothing.
func ParseCalls(choice string) Calls {
	switch choice {
	case "", "auto":
		return Calls{}
	case "free":
		return Calls{Free: true}
	case "none":
		return Calls{Choice: grammar.ToolNone}
	case "required":
		return Calls{Choice: grammar.ToolRequired}
	}
	return Calls{Choice: grammar.ToolNamed, Name: choice}
}

// toolsError says what to do about tools that answers cannot be held to.
func toolsError(f *Form, err error) error {
	if f.Tools == nil || err == nil {
		return err
	}
	return fmt.Errorf("%w; change the declaration, or let the tool choice be \"free\", which holds calls to nothing", err)
}
