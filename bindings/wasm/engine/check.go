package engine

import (
	"encoding/json"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// watch examines the kernels of one model, at its opening and later, when its towers,
// adapters or training come to it. It tells the page, and whoever keeps verdicts.
type watch struct {
	call  *call // the opening
	given *Verdict
	power wgslkit.PowerPreference
	model atomic.Int64 // its number; 0 while it opens
}

func (w *watch) examiner() *checkup.Examiner {
	return &checkup.Examiner{Keeper: w, Progress: w.progress, Run: w.call.engine.options.runCase}
}

func (c *call) watch(p OpenParams) *watch {
	return &watch{call: c, given: p.Verdict, power: p.PowerPreference}
}

// avoid is what an adapter is known to compute wrongly.
func (w *watch) avoid(info wgslkit.Info) wgslkit.Avoid {
	if v := w.Load(info); v != nil {
		return v.Avoid
	}
	return wgslkit.Avoid{}
}

// Load is what an examination of this worker's found out about an adapter, or what the
// opening was given.
func (w *watch) Load(info wgslkit.Info) *Verdict {
	e := w.call.engine
	if v := e.verdicts.load(w.power); sameAdapter(v, info) {
		return v
	}
	if !sameAdapter(w.given, info) {
		return nil
	}
	v, err := cloned(w.given)
	if err != nil {
		return nil // as good as none: it came as JSON
	}
	return v
}

// Keep hands a verdict to whoever keeps it for longer than this worker lives.
func (w *watch) Keep(v *Verdict) error {
	own, err := cloned(v)
	if err != nil {
		return err
	}
	w.call.engine.verdicts.keep(w.power, own)
	w.notify(Notice{Type: NoticeVerdict, PowerPreference: w.power, Verdict: own})
	return nil
}

func (w *watch) progress(done, total int) {
	if w.model.Load() == 0 {
		w.call.event(LoadProgress{Phase: phases[gemma4.PhaseCheck], Done: int64(done), Total: int64(total)})
		return
	}
	w.notify(Notice{Type: NoticeCheck, Done: done, Total: total})
}

// found tells of what comes to an open model; what opening finds is in its result.
func (w *watch) found(f *checkup.Findings) {
	if w.model.Load() != 0 {
		w.notify(Notice{Type: NoticeFound, Findings: f})
	}
}

func (w *watch) notify(n Notice) {
	n.Model = int(w.model.Load())
	w.call.engine.options.Post(Reply{Notice: &n})
}

// sameAdapter says whether a verdict is about an adapter, with its driver.
func sameAdapter(v *Verdict, info wgslkit.Info) bool {
	if v == nil {
		return false
	}
	found := v.Info
	found.LibraryRefused = info.LibraryRefused // that is not the adapter's doing
	return reflect.DeepEqual(found, info)
}

// verdicts are those of a worker's own examinations.
type verdicts struct {
	mu   sync.Mutex
	kept map[wgslkit.PowerPreference]*Verdict
}

func (s *verdicts) keep(p wgslkit.PowerPreference, v *Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[wgslkit.PowerPreference]*Verdict{}
	}
	s.kept[p] = v
}

// load is a copy, the caller's own.
func (s *verdicts) load(p wgslkit.PowerPreference) *Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[p] == nil {
		return nil
	}
	v, err := cloned(s.kept[p])
	if err != nil {
		return nil // it was JSON before
	}
	return v
}

func cloned(v *Verdict) (*Verdict, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	own := new(Verdict)
	return own, json.Unmarshal(raw, own)
}
