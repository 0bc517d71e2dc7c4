package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

type detailsJSON struct {
	ParentModel       string   `json:"parent_model"`
	Format            string   `json:"format"`
	Family            string   `json:"family"`
	Families          []string `json:"families"`
	ParameterSize     string   `json:"parameter_size"`
	QuantizationLevel string   `json:"quantization_level"`
}

func newDetails(e models.Entry, d models.Details) detailsJSON {
	return detailsJSON{
		ParentModel: e.Parent, Format: "gguf", Family: d.Architecture, Families: []string{d.Architecture},
		ParameterSize: d.Size(), QuantizationLevel: d.Quantization,
	}
}

type modelJSON struct {
	Name         string      `json:"name"`
	Model        string      `json:"model"`
	ModifiedAt   *time.Time  `json:"modified_at,omitempty"`
	Size         int64       `json:"size"`
	Digest       string      `json:"digest"`
	Details      detailsJSON `json:"details"`
	Capabilities []string    `json:"capabilities,omitempty"`

	// Of models that are open.
	ExpiresAt     *time.Time `json:"expires_at,omitempty"`
	SizeVRAM      *int64     `json:"size_vram,omitempty"`
	ContextLength int        `json:"context_length,omitempty"`
}

func (a *api) newModel(ctx context.Context, e models.Entry) modelJSON {
	d, _ := a.Library.Details(ctx, e) // of a damaged file there are none
	return modelJSON{
		Name: e.Tagged(), Model: e.Tagged(), ModifiedAt: &e.Modified, Size: e.Size, Digest: e.Digest,
		Details: newDetails(e, d), Capabilities: d.Capabilities(),
	}
}

// tags answers GET /api/tags. Models of other architectures, which cannot be run here, are left out.
func (a *api) tags(w http.ResponseWriter, r *http.Request) {
	entries, err := a.Library.List()
	if err != nil {
		Refuse(w, err)
		return
	}
	list := []modelJSON{}
	for _, e := range entries {
		if e.Err != nil {
			continue
		}
		if d, err := a.Library.Details(r.Context(), e); err != nil || d.Problem != nil {
			continue
		}
		list = append(list, a.newModel(r.Context(), e))
	}
	wire.JSON(w, http.StatusOK, map[string]any{"models": list})
}

// ps answers GET /api/ps.
func (a *api) ps(w http.ResponseWriter, r *http.Request) {
	list := []modelJSON{}
	for _, open := range a.Library.Running() {
		m := a.newModel(r.Context(), open.Entry)
		m.ModifiedAt, m.Capabilities = nil, nil
		m.Size, m.ContextLength = open.Need, open.Info.Context
		onGPU := int64(0)
		if open.Info.Device == gemma4.DeviceGPU {
			onGPU = open.Need
		}
		m.SizeVRAM = &onGPU
		expires := open.Expires
		if open.Forever {
			expires = time.Now().AddDate(100, 0, 0)
		}
		m.ExpiresAt = &expires
		list = append(list, m)
	}
	slices.SortFunc(list, func(x, y modelJSON) int { return strings.Compare(x.Name, y.Name) })
	wire.JSON(w, http.StatusOK, map[string]any{"models": list})
}

type showJSON struct {
	License      string         `json:"license,omitempty"`
	Modelfile    string         `json:"modelfile"`
	Parameters   string         `json:"parameters"`
	Template     string         `json:"template"`
	System       string         `json:"system,omitempty"`
	Details      detailsJSON    `json:"details"`
	Messages     any            `json:"messages,omitempty"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
	ModifiedAt   time.Time      `json:"modified_at"`
}

// show answers POST /api/show.
func (a *api) show(w http.ResponseWriter, r *http.Request) {
	var in modelName
	err := wire.Read(w, r, a.mostBody, &in)
	var e models.Entry
	if err == nil {
		e, err = a.Library.Find(in.String())
	}
	var d models.Details
	if err == nil {
		d, err = a.Library.Details(r.Context(), e)
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	out := showJSON{
		License: strings.Join(e.Licenses, "\n\n"), Parameters: parameters(e.Parameters, ""), System: e.System,
		Template: d.Template, Details: newDetails(e, d), ModelInfo: d.Meta, Capabilities: d.Capabilities(),
		ModifiedAt: e.Modified, Modelfile: modelfileOf(e),
	}
	if e.Template != "" {
		out.Template = e.Template
	}
	if len(e.Messages) > 0 {
		out.Messages = e.Messages
	}
	wire.JSON(w, http.StatusOK, out)
}

// parameters are lines of names and values.
func parameters(all map[string]any, before string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		values, ok := all[name].([]any)
		if !ok {
			values = []any{all[name]}
		}
		for _, v := range values {
			raw, err := json.Marshal(v)
			if err != nil {
				continue // it came from JSON
			}
			fmt.Fprintf(&b, "%s%-30s %s\n", before, name, raw)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// modelfileOf describes a model as a Modelfile.
func modelfileOf(e models.Entry) string {
	from := e.Name
	if e.Parent != "" {
		from = e.Parent
	}
	lines := []string{"FROM " + from}
	if e.System != "" {
		lines = append(lines, `SYSTEM """`+e.System+`"""`)
	}
	if p := parameters(e.Parameters, "PARAMETER "); p != "" {
		lines = append(lines, p)
	}
	for _, m := range e.Messages {
		lines = append(lines, "MESSAGE "+m.Role+" "+m.Content.String())
	}
	return strings.Join(lines, "\n") + "\n"
}

// copy answers POST /api/copy.
func (a *api) copy(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Source      string `json:"source"`
		Destination string `json:"destination"`
	}
	err := wire.Read(w, r, a.mostBody, &in)
	if err == nil && (in.Source == "" || in.Destination == "") {
		err = fmt.Errorf("%w: say source and destination", answer.ErrRequest)
	}
	if err == nil {
		err = a.Library.Copy(in.Source, in.Destination)
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// delete answers DELETE /api/delete.
func (a *api) delete(w http.ResponseWriter, r *http.Request) {
	var in modelName
	err := wire.Read(w, r, a.mostBody, &in)
	if err == nil && in.String() == "" {
		err = fmt.Errorf("%w: say which model", answer.ErrRequest)
	}
	if err == nil {
		err = a.Library.Delete(in.String())
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}
