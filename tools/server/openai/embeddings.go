package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// embeddingsRequest is the body of POST /v1/embeddings.
type embeddingsRequest struct {
	Model          string          `json:"model"`
	Input          embeddingsInput `json:"input"`
	Dimensions     int             `json:"dimensions"`
	EncodingFormat string          `json:"encoding_format"`
}

// embeddingsInput is a text, texts, token ids, or lists of them.
type embeddingsInput []models.Text

// mostInputs is how many there may be, as at OpenAI's.
const mostInputs = 2048

// UnmarshalJSON reads any of the forms.
func (in *embeddingsInput) UnmarshalJSON(raw []byte) error {
	var text string
	var texts []string
	var ids []int
	var lists [][]int
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*in = embeddingsInput{{Text: text}}
	case json.Unmarshal(raw, &texts) == nil:
		for _, t := range texts {
			*in = append(*in, models.Text{Text: t})
		}
	case json.Unmarshal(raw, &ids) == nil:
		*in = embeddingsInput{{Tokens: ids}}
	case json.Unmarshal(raw, &lists) == nil:
		for _, l := range lists {
			*in = append(*in, models.Text{Tokens: append([]int{}, l...)})
		}
	default:
		return fmt.Errorf("%w: input is neither a text nor token ids, nor a list of either", answer.ErrRequest)
	}
	return nil
}

// check refuses what OpenAI's server refuses.
func (r *embeddingsRequest) check() error {
	switch {
	case len(r.Input) == 0:
		return &paramError{"input", fmt.Errorf("%w: input is empty", answer.ErrRequest)}
	case len(r.Input) > mostInputs:
		return &paramError{"input", fmt.Errorf("%w: %d inputs; send at most %d", answer.ErrRequest, len(r.Input), mostInputs)}
	case r.EncodingFormat != "" && r.EncodingFormat != "float" && r.EncodingFormat != "base64":
		return &paramError{"encoding_format", fmt.Errorf("%w: encoding_format is %.20q; use float or base64",
			answer.ErrRequest, r.EncodingFormat)}
	}
	for _, in := range r.Input {
		if in.Text == "" && len(in.Tokens) == 0 {
			return &paramError{"input", fmt.Errorf("%w: an input is empty", answer.ErrRequest)}
		}
	}
	return nil
}

// embeddingJSON is one embedding: numbers, or the bytes of float32 in base64.
type embeddingJSON struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

// embeddings answers POST /v1/embeddings.
func (a *api) embeddings(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	var in embeddingsRequest
	err := wire.Read(w, r, a.mostBody, &in)
	var entry models.Entry
	if err == nil {
		entry, err = a.find(in.Model)
	}
	if err == nil {
		err = in.check()
	}
	var got models.Embedded
	if err == nil {
		got, err = a.Library.Embed(ctx, entry, in.Input, nil, embedding.EmbedOptions{Dimensions: in.Dimensions})
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	data := make([]embeddingJSON, len(got.Vectors))
	for i, v := range got.Vectors {
		data[i] = embeddingJSON{"embedding", i, v}
		if in.EncodingFormat == "base64" {
			data[i].Embedding = inBase64(v)
		}
	}
	wire.JSON(w, http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": in.Model,
		"usage": map[string]int{"prompt_tokens": got.Tokens, "total_tokens": got.Tokens},
	})
}

// inBase64 is the little-endian bytes of the numbers.
func inBase64(v []float32) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
