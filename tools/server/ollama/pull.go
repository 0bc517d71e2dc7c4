package ollama

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// tellEach is how often a download tells how far it is.
const tellEach = 200 * time.Millisecond

// pull answers POST /api/pull.
func (a *api) pull(w http.ResponseWriter, r *http.Request) {
	var in struct {
		modelName
		Stream *bool `json:"stream"`
	}
	err := wire.Read(w, r, a.mostBody, &in)
	if err == nil && in.String() == "" {
		err = fmt.Errorf("%w: say which model", answer.ErrRequest)
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	streams := in.Stream == nil || *in.Stream
	s := wire.Lines(w)
	var told time.Time
	var before string
	err = a.Library.Pull(r.Context(), in.String(), func(step string, done, total int64) {
		if !streams || step == before && done != total && time.Since(told) < tellEach {
			return
		}
		told, before = time.Now(), step
		_ = s.Line(statusJSON{Status: step, Total: total, Completed: done}) // who is gone ends the request
	})
	success := statusJSON{Status: "success"}
	switch {
	case err != nil && s.Begun():
		_ = s.Line(errorJSON{answer.Sentence(err)}) // a client that is gone needs no answer
	case err != nil:
		Refuse(w, err)
	case streams:
		_ = s.Line(success)
	default:
		wire.JSON(w, http.StatusOK, success)
	}
}
