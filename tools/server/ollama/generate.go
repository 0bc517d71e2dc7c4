package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// generateRequest is the body of a text.
type generateRequest struct {
	common
	Prompt   string          `json:"prompt"`
	Suffix   string          `json:"suffix"`
	System   string          `json:"system"`
	Template string          `json:"template"`
	Context  json.RawMessage `json:"context"`
	Raw      bool            `json:"raw"`
	Images   [][]byte        `json:"images"`
}

// check refuses what Gemma, or this server, cannot honour.
func (in *generateRequest) check() error {
	switch {
	case in.Suffix != "":
		return fmt.Errorf("%w: the model does not support insert: Gemma cannot fill in a text before a suffix",
			answer.ErrRequest)
	case in.Template != "":
		return fmt.Errorf("%w: this server writes Gemma's own chat format and takes no template; send raw: true with a "+
			"prompt that is written out", answer.ErrRequest)
	case len(in.Context) > 0 && string(in.Context) != "null" && string(in.Context) != "[]":
		return fmt.Errorf("%w: this server takes no context; send the conversation to /api/chat", answer.ErrRequest)
	case in.Raw && len(in.Images) > 0:
		return fmt.Errorf("%w: a raw prompt has no images", answer.ErrRequest)
	}
	return nil
}

// generate answers POST /api/generate.
func (a *api) generate(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	var in generateRequest
	err := wire.Read(w, r, a.mostBody, &in)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	entry, err := a.Library.Find(in.Model)
	if err != nil {
		Refuse(w, err)
		return
	}
	if in.Prompt == "" && len(in.Images) == 0 {
		a.load(w, r, in.common, entry, false)
		return
	}
	request, err := in.request(entry, wire.Client(r))
	if err != nil {
		Refuse(w, err)
		return
	}
	if in.Raw {
		request.Text, request.Marked = &in.Prompt, true
	} else {
		request.Conversation.Messages = in.messages()
	}
	open, ok := a.open(w, r, entry, in.common)
	if !ok {
		return
	}
	defer open.Done()
	reply := &reply{open: open, common: in.common, begun: begun}
	reply.send(w, a, request, r)
}

func (in *generateRequest) messages() (list []chat.Message) {
	if in.System != "" {
		list = append(list, chat.Message{Role: chat.System, Content: chat.Text(in.System)})
	}
	return append(list, chat.Message{Role: chat.User, Content: content(in.Prompt, in.Images)})
}
