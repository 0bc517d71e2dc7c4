package chat

import (
	"encoding/json"
	"fmt"
)

// Tool declares a function that the model may call. Its JSON is OpenAI's,
// {"type": "function", "function": {…}}.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of an object, or none
	Response    json.RawMessage // JSON schema of the result, or none
}

type declarationJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Response    json.RawMessage `json:"response,omitempty"`
}

type toolJSON struct {
	Type     string           `json:"type"`
	Function *declarationJSON `json:"function"`
}

// UnmarshalJSON reads OpenAI's form.
func (t *Tool) UnmarshalJSON(data []byte) error {
	var in toolJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Function == nil || in.Function.Name == "" {
		return fmt.Errorf("%w: it has no function with a name", ErrTool)
	}
	*t = Tool(*in.Function)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (t Tool) MarshalJSON() ([]byte, error) {
	f := declarationJSON(t)
	return json.Marshal(toolJSON{"function", &f})
}
