package ollama

import (
	"net/http"
	"time"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// chatRequest is the body of a chat. Ollama has no tool_choice; its OpenAI-like clients send one all the same.
type chatRequest struct {
	common
	Messages []message   `json:"messages"`
	Tools    []chat.Tool `json:"tools"`
}

// chat answers POST /api/chat.
func (a *api) chat(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	var in chatRequest
	if err := wire.Read(w, r, a.mostBody, &in); err != nil {
		Refuse(w, err)
		return
	}
	entry, err := a.Library.Find(in.Model)
	if err != nil {
		Refuse(w, err)
		return
	}
	if len(in.Messages) == 0 {
		a.load(w, r, in.common, entry, true)
		return
	}
	request, err := in.request(entry, wire.Client(r))
	if err != nil {
		Refuse(w, err)
		return
	}
	for _, m := range in.Messages {
		request.Conversation.Messages = append(request.Conversation.Messages, m.chat())
	}
	request.Conversation.Options.Tools = in.Tools
	open, ok := a.open(w, r, entry, in.common)
	if !ok {
		return
	}
	defer open.Done()
	reply := &reply{open: open, common: in.common, begun: begun, isChat: true}
	reply.send(w, a, request, r)
}

// open opens a model, or refuses the request.
func (a *api) open(w http.ResponseWriter, r *http.Request, e models.Entry, c common) (*models.Open, bool) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	wire.Patient(w)
	open, err := a.Library.Use(ctx, e, c.kept())
	if err != nil {
		Refuse(w, err)
		return nil, false
	}
	return open, true
}

// load answers a request without a question: the model is loaded, or with keep_alive 0 unloaded.
func (a *api) load(w http.ResponseWriter, r *http.Request, c common, e models.Entry, isChat bool) {
	reply := &reply{common: c, isChat: isChat}
	out := reply.piece("", "", nil)
	out.Done, out.DoneReason = true, "load"
	if keep := c.kept(); keep != nil && *keep == 0 {
		if err := a.Library.Unload(e); err != nil {
			Refuse(w, err)
			return
		}
		out.DoneReason = "unload"
		wire.JSON(w, http.StatusOK, out)
		return
	}
	open, ok := a.open(w, r, e, c)
	if !ok {
		return
	}
	out.countsJSON = &countsJSON{TotalDuration: open.Loaded, LoadDuration: open.Loaded}
	open.Done()
	wire.JSON(w, http.StatusOK, out)
}

// modelName is the name of a model in a body, under its present or its older field.
type modelName struct {
	Model string `json:"model"`
	Name  string `json:"name"`
}

func (m modelName) String() string {
	if m.Model != "" {
		return m.Model
	}
	return m.Name
}
