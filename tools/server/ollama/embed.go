package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// embedRequest is the body of POST /api/embed, and of the older /api/embeddings.
type embedRequest struct {
	Model      string     `json:"model"`
	Input      embedInput `json:"input"`
	Prompt     string     `json:"prompt"` // the older one's
	Truncate   *bool      `json:"truncate"`
	Dimensions int        `json:"dimensions"`
	KeepAlive  *keepAlive `json:"keep_alive"`
}

// embedInput is a text or a list of texts.
type embedInput []models.Text

// UnmarshalJSON reads either.
func (in *embedInput) UnmarshalJSON(raw []byte) error {
	var text string
	var texts []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		texts = []string{text}
	case json.Unmarshal(raw, &texts) == nil:
	default:
		return fmt.Errorf("%w: input is neither a text nor a list of texts", answer.ErrRequest)
	}
	for _, t := range texts {
		*in = append(*in, models.Text{Text: t})
	}
	return nil
}

// options are those of the request: texts that are too long are cut unless it says otherwise.
func (r *embedRequest) options() embedding.EmbedOptions {
	return embedding.EmbedOptions{Dimensions: r.Dimensions, Truncate: r.Truncate == nil || *r.Truncate}
}

// embeddings reads a request and makes its embeddings.
func (a *api) embeddings(w http.ResponseWriter, r *http.Request, one bool) (in embedRequest, got models.Embedded,
	err error) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	if err = wire.Read(w, r, a.mostBody, &in); err != nil {
		return in, got, err
	}
	entry, err := a.Library.Find(in.Model)
	if err != nil {
		return in, got, err
	}
	if one {
		in.Input = embedInput{{Text: in.Prompt}}
	}
	got, err = a.Library.Embed(ctx, entry, in.Input, (*time.Duration)(in.KeepAlive), in.options())
	return in, got, err
}

// embed answers POST /api/embed.
func (a *api) embed(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	in, got, err := a.embeddings(w, r, false)
	if err != nil {
		Refuse(w, err)
		return
	}
	if got.Vectors == nil {
		got.Vectors = [][]float32{}
	}
	wire.JSON(w, http.StatusOK, map[string]any{
		"model": in.Model, "embeddings": got.Vectors, "total_duration": time.Since(begun), "load_duration": got.Loaded,
		"prompt_eval_count": got.Tokens,
	})
}

// embedOne answers POST /api/embeddings, with one vector for one prompt.
func (a *api) embedOne(w http.ResponseWriter, r *http.Request) {
	_, got, err := a.embeddings(w, r, true)
	if err != nil {
		Refuse(w, err)
		return
	}
	wire.JSON(w, http.StatusOK, map[string]any{"embedding": got.Vectors[0]})
}
