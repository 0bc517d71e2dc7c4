package answer

import (
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/models"
)

// Metrics counts what a server does, for Prometheus.
type Metrics struct {
	set     *metrics.Set
	library *models.Library
}

// Prometheus is told what is a counter, a gauge or a histogram.
func init() { metrics.ExposeMetadata(true) }

// NewMetrics counts the answers of a library's models.
func NewMetrics(library *models.Library) *Metrics {
	m := &Metrics{set: metrics.NewSet(), library: library}
	m.set.NewGauge("gemwire_models_open", func() float64 { return float64(len(library.Running())) })
	m.set.NewGauge("gemwire_answers_running", func() float64 {
		return m.sum(func(r models.Running) int { return r.Active })
	})
	m.set.NewGauge("gemwire_requests_waiting", func() float64 {
		return m.sum(func(r models.Running) int { return r.Waiting })
	})
	m.set.NewGauge("gemwire_models_bytes", func() float64 {
		return m.sum(func(r models.Running) int { return int(r.Need) })
	})
	return m
}

func (m *Metrics) sum(of func(models.Running) int) float64 {
	n := 0
	for _, r := range m.library.Running() {
		n += of(r)
	}
	return float64(n)
}

// Write writes everything in Prometheus' text form.
func (m *Metrics) Write(w io.Writer) {
	m.set.WritePrometheus(w)
	typed := false
	for _, r := range m.library.Running() {
		if r.Batch != nil {
			if !typed { // once for all models
				fmt.Fprintf(w, "# HELP %s\n# TYPE %[1]s histogram\n", batchSize)
				typed = true
			}
			writeBatchSizes(w, r.Entry.Name, r.Batch)
		}
	}
	metrics.WriteProcessMetrics(w)
}

// Request counts a request that was answered.
func (m *Metrics) Request(api string, status int, took time.Duration) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`gemwire_http_requests_total{api=%q,status="%d"}`, api, status)).Inc()
	seconds := m.set.GetOrCreatePrometheusHistogram(fmt.Sprintf(`gemwire_http_request_seconds{api=%q}`, api))
	seconds.Update(took.Seconds())
}

// work is an answer that is counted.
type work struct {
	m     *Metrics
	model string
	begun time.Time
	first time.Time
	over  bool
}

func (m *Metrics) begin(model string) *work { return &work{m: m, model: model, begun: time.Now()} }

func (w *work) event(e gemma4.Event) {
	now := time.Now()
	if w.first.IsZero() {
		w.first = now
		w.histogram("gemwire_time_to_first_token_seconds").Update(now.Sub(w.begun).Seconds())
	}
	w.count("gemwire_tokens_generated_total").Add(len(e.Tokens))
	if e.Kind != chat.DoneEvent || e.Usage == nil {
		return
	}
	w.count("gemwire_tokens_prompt_total").Add(e.Usage.Prompt)
	w.count("gemwire_tokens_prompt_computed_total").Add(e.Usage.Computed)
	if n := e.Usage.Answer; n > 1 {
		w.histogram("gemwire_time_per_token_seconds").Update(e.Usage.DecodeTime.Seconds() / float64(n-1))
	}
	w.result(string(e.Reason))
}

func (w *work) fail(err error) {
	if KindOf(err) == Gone {
		w.result("cancelled")
		return
	}
	w.result("error")
}

func (w *work) left() { w.result("cancelled") }

func (w *work) result(reason string) {
	if !w.over {
		w.over = true
		name := fmt.Sprintf(`gemwire_answers_total{model=%q,reason=%q}`, w.model, reason)
		w.m.set.GetOrCreateCounter(name).Inc()
	}
}

func (w *work) end() { w.histogram("gemwire_answer_seconds").Update(time.Since(w.begun).Seconds()) }

func (w *work) histogram(name string) *metrics.PrometheusHistogram {
	return w.m.set.GetOrCreatePrometheusHistogram(fmt.Sprintf(`%s{model=%q}`, name, w.model))
}

func (w *work) count(name string) *metrics.Counter {
	return w.m.set.GetOrCreateCounter(fmt.Sprintf(`%s{model=%q}`, name, w.model))
}
