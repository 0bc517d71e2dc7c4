package ollama

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// createRequest is the body of a model to make: its fields, or a Modelfile.
type createRequest struct {
	modelName
	Modelfile  string            `json:"modelfile"`
	From       string            `json:"from"`
	System     string            `json:"system"`
	Template   string            `json:"template"`
	License    json.RawMessage   `json:"license"`
	Parameters map[string]any    `json:"parameters"`
	Messages   []message         `json:"messages"`
	Files      map[string]string `json:"files"`
	Adapters   map[string]string `json:"adapters"`
	Quantize   string            `json:"quantize"`
	Stream     *bool             `json:"stream"`
}

func (in *createRequest) recipe() (r models.Recipe, err error) {
	if in.Modelfile != "" {
		if r, err = parseModelfile(in.Modelfile); err != nil {
			return r, err
		}
	}
	switch {
	case len(in.Files) > 0:
		return r, fmt.Errorf("%w: from files that are sent; put the .gguf file into the folder of models, and name it in "+
			"from", models.ErrRecipe)
	case in.Quantize != "":
		return r, fmt.Errorf("%w: quantizing is not done here; pull it as %s", models.ErrRecipe, in.Quantize)
	}
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	r.Name = in.String()
	set(&r.From, in.From)
	set(&r.System, in.System)
	set(&r.Template, in.Template)
	if in.Parameters != nil {
		r.Parameters = in.Parameters
	}
	r.Adapters = append(r.Adapters, slices.Sorted(maps.Keys(in.Adapters))...)
	for _, m := range in.Messages {
		r.Messages = append(r.Messages, m.chat())
	}
	var one string
	var several []string
	switch {
	case len(in.License) == 0 || string(in.License) == "null":
	case json.Unmarshal(in.License, &one) == nil:
		r.Licenses = append(r.Licenses, one)
	case json.Unmarshal(in.License, &several) == nil:
		r.Licenses = append(r.Licenses, several...)
	default:
		return r, fmt.Errorf("%w: license is neither a text nor a list of texts", answer.ErrRequest)
	}
	return r, nil
}

// create answers POST /api/create.
func (a *api) create(w http.ResponseWriter, r *http.Request) {
	var in createRequest
	err := wire.Read(w, r, a.mostBody, &in)
	var recipe models.Recipe
	if err == nil {
		recipe, err = in.recipe()
	}
	if err == nil {
		err = a.Library.Create(recipe)
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	success := statusJSON{Status: "success"}
	if in.Stream != nil && !*in.Stream {
		wire.JSON(w, http.StatusOK, success)
		return
	}
	s := wire.Lines(w)
	_ = s.Line(statusJSON{Status: "writing manifest"}) // a client that is gone needs no answer
	_ = s.Line(success)
}

// statusJSON tells how far something is.
type statusJSON struct {
	Status    string `json:"status"`
	Digest    string `json:"digest,omitempty"`
	Total     int64  `json:"total,omitempty"`
	Completed int64  `json:"completed,omitempty"`
}
