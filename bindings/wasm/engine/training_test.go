package engine

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
)

const boat = `{"prompt": "What color is the boat?", "completion": "The boat is purple."}`

// quick are settings with which nano learns a line in few steps.
var quick = TrainingSettings{Rank: 4, Targets: []string{"q", "v", "down"}, LearningRate: 1e-2, Schedule: "constant",
	Steps: 30, Seed: 3}

func (p *page) prepare(model int, settings TrainingSettings, data string) PrepareResult {
	p.t.Helper()
	return p.must(OpPrepare, PrepareParams{Model: model, Settings: settings}, []byte(data)).(PrepareResult)
}

// train asks for steps, and hears them.
func (p *page) train(run, steps int) (events []StepEvent, result TrainResult) {
	p.t.Helper()
	_, replies := p.ask(OpTrain, TrainParams{Run: run, Steps: steps})
	for r := range replies {
		if r.Event == nil {
			if r.Error != nil {
				p.t.Fatalf("train: %+v", *r.Error)
			}
			return events, r.Result.(TrainResult)
		}
		events = append(events, r.Event.(StepEvent))
	}
	return nil, TrainResult{}
}

// files asks for what Go writes.
func (p *page) files(op Op, params any, attached ...any) map[string][]byte {
	p.t.Helper()
	_, replies := p.ask(op, params, attached...)
	files := map[string][]byte{}
	for r := range replies {
		if r.Event == nil {
			if r.Error != nil {
				p.t.Fatalf("%s: %+v", op, *r.Error)
			}
			return files
		}
		name := r.Event.(FileChunk).File
		files[name] = append(files[name], r.Data...)
	}
	return nil
}

func (p *page) greedy(session int, question string) string {
	p.t.Helper()
	_, replies := p.ask(OpChat, ChatParams{Session: session, Messages: ask(question)})
	var text strings.Builder
	for r := range replies {
		if r.Event == nil {
			if r.Error != nil {
				p.t.Fatalf("chat: %+v", *r.Error)
			}
			return text.String()
		}
		if e := r.Event.(ChatEvent); e.Type == "text" {
			text.WriteString(e.Text)
		}
	}
	return ""
}

func file(data []byte) gguf.Source { return gguf.Memory(data) }

// A line is learnt, said, taken out in both forms, and said by whoever loads them.
func TestTrain(t *testing.T) {
	p := newPage(t)
	model := p.open()
	const question, purple = "What color is the boat?", "The boat is purple."
	base := p.greedy(model.Session.Session, question)
	run := p.prepare(model.Model, quick, boat)
	if run.Plan.Steps != 30 || run.Plan.Saved != run.Plan.Layers || run.Plan.Bytes <= 0 || run.Report.Examples != 1 ||
		run.Settings.Alpha != 8 {
		t.Errorf("the run is %+v", run)
	}
	shown := p.must(OpShowRun, ShowParams{Run: run.Run}).(ShowResult).Examples
	if len(shown) != 1 || shown[0].Pieces[1] != (PreviewPiece{Text: purple + "<turn|>", Target: true}) {
		t.Errorf("the preview is %+v", shown)
	}
	events, result := p.train(run.Run, 0)
	if last := events[len(events)-1]; len(events) != 30 || last.Loss > 0.01 || last.Tokens != 20 ||
		last.MemoryBytes <= 0 || result.State != TrainFinished || result.Loss != last.Loss {
		t.Errorf("%d steps, the last %+v, %+v", len(events), last, result)
	}
	peft := p.files(OpRunAdapter, RunAdapterParams{Run: run.Run, Format: FormatPEFT})
	llama := p.files(OpRunAdapter, RunAdapterParams{Run: run.Run, Format: FormatGGUF, Name: "boat"})
	p.must(OpUseRun, UseRunParams{Run: run.Run, Name: "boat"})
	if got := p.greedy(model.Session.Session, question); got != purple {
		t.Errorf("with what was learnt: %q", got)
	}
	// Once more in place of itself, by half.
	half := float32(0.5)
	list := p.must(OpUseRun, UseRunParams{Run: run.Run, Name: "boat", Weight: &half}).(AdaptersResult).Adapters
	if len(list) != 1 || list[0].Weight != half {
		t.Errorf("loaded are %+v", list)
	}
	p.must(OpUseAdapters, UseAdaptersParams{Model: model.Model, Use: nil})
	if got := p.greedy(model.Session.Session, question); got != base {
		t.Errorf("without it: %q, before %q", got, base)
	}
	for name, files := range map[string][]gguf.Source{
		"peft":      {file(peft[adapter.ConfigName]), file(peft[adapter.WeightsName])},
		"backwards": {file(peft[adapter.WeightsName]), file(peft[adapter.ConfigName])},
		"gguf":      {file(llama["boat.gguf"])},
	} {
		p.must(OpLoadAdapter, AdapterParams{Model: model.Model, Name: name}, things(files)...)
		p.must(OpUseAdapters, UseAdaptersParams{Model: model.Model, Use: []AdapterWeight{{Name: name}}})
		if got := p.greedy(model.Session.Session, question); got != purple {
			t.Errorf("%s: %q", name, got)
		}
	}
	converted := p.files(OpConvertAdapter, ConvertParams{Format: FormatPEFT}, file(llama["boat.gguf"]))
	if !bytes.Equal(converted[adapter.WeightsName], peft[adapter.WeightsName]) {
		t.Error("there and back, the weights are others")
	}
	p.must(OpEndTraining, RunParams{Run: run.Run})
	p.must(OpClose, ModelParams{Model: model.Model})
}

// A run that is paused goes on as it would have; one from a checkpoint too.
func TestPauseAndResume(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	settings := quick
	settings.Steps = 6
	whole := p.prepare(model, settings, boat)
	want, _ := p.train(whole.Run, 0)
	p.must(OpEndTraining, RunParams{Run: whole.Run})
	run := p.prepare(model, settings, boat)
	got, result := p.train(run.Run, 2)
	if result.State != TrainSteps || result.Step != 2 {
		t.Fatalf("after two steps: %+v", result)
	}
	// A step that is broken off is made again.
	_, replies := p.ask(OpTrain, TrainParams{Run: run.Run})
	p.must(OpPause, PauseParams{Run: run.Run, Now: true})
	for r := range replies {
		if r.Event == nil {
			if r.Error != nil || r.Result.(TrainResult).State != TrainPaused {
				t.Fatalf("paused: %+v %+v", r.Result, r.Error)
			}
			break
		}
		got = append(got, r.Event.(StepEvent))
	}
	checkpoint := p.files(OpCheckpoint, RunParams{Run: run.Run})[checkpointFile]
	p.must(OpEndTraining, RunParams{Run: run.Run})
	resumed := p.must(OpPrepare, PrepareParams{Model: model, Resume: true}, []byte(boat),
		file(checkpoint)).(PrepareResult)
	if resumed.Step != len(got) || resumed.Plan.Steps != 6 || resumed.Settings.Rank != 4 {
		t.Errorf("resumed after %d steps: %+v", len(got), resumed)
	}
	rest, result := p.train(resumed.Run, 0)
	if result.State != TrainFinished || len(got)+len(rest) != 6 {
		t.Errorf("%d steps and %d, %+v", len(got), len(rest), result)
	}
	for i, e := range append(got, rest...) {
		if math.Abs(e.Loss-want[i].Loss) > 1e-6*want[i].Loss {
			t.Errorf("step %d has a loss of %v, wanted %v", i+1, e.Loss, want[i].Loss)
		}
	}
	p.must(OpClose, ModelParams{Model: model})
}

// A run keeps to its memory, and says how.
func TestMemoryOfRun(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	settings := quick
	free := p.prepare(model, settings, boat)
	p.must(OpEndTraining, RunParams{Run: free.Run})
	if free.Settings.Precision != "auto" || free.Plan.Recomputed != 0 || free.Plan.Halves {
		t.Errorf("with all memory: %+v", free)
	}
	settings.Precision, settings.MemoryBudget = "f32", free.Plan.Bytes*3/4
	bound := p.prepare(model, settings, boat)
	if bound.Settings.Precision != "f32" || bound.Settings.MemoryBudget != settings.MemoryBudget ||
		bound.Plan.Bytes > settings.MemoryBudget || bound.Plan.Recomputed == 0 {
		t.Errorf("with %d bytes: %+v", settings.MemoryBudget, bound)
	}
	p.must(OpClose, ModelParams{Model: model})
}

// With a patience the run ends by itself, and gives the best adapter.
func TestEarlyStop(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	settings := quick
	settings.EvaluateEvery, settings.Patience, settings.LearningRate = 1, 2, 2e-2
	held := `{"prompt": "What is the capital of France?", "completion": "The capital of France is Paris."}`
	run := p.must(OpPrepare, PrepareParams{Model: model, Settings: settings, HeldOutData: true}, []byte(boat),
		[]byte(held)).(PrepareResult)
	events, result := p.train(run.Run, 0)
	if result.State != TrainEarly || result.Step != len(events) || len(events) == 30 || events[0].HeldOutLoss == nil {
		t.Errorf("%d steps, %+v", len(events), result)
	}
	files := p.files(OpCheckpoint, RunParams{Run: run.Run})
	if result.UsesBest != (len(files) == 2) {
		t.Errorf("%+v, and a checkpoint of %d files", result, len(files))
	}
	p.must(OpClose, ModelParams{Model: model})
}

func TestPreviewData(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	data := boat + "\n{}\n" + strings.Repeat(boat+"\n", 3)
	got := p.must(OpPreviewData, PreviewParams{Model: model, First: 1, Count: 2}, []byte(data)).(PreviewResult)
	want := DataReport{Examples: 4, Tokens: 80, Targets: 20, Cut: []CutLine{}, Bad: got.Report.Bad,
		HeldOutLines: []int{}}
	if d := cmp.Diff(want, got.Report); d != "" || len(got.Report.Bad) != 1 || got.Report.Bad[0].Line != 2 ||
		len(got.Examples) != 2 || got.Examples[0].Line != 3 {
		t.Errorf("%s: %+v", d, got)
	}
	none := p.must(OpPreviewData, PreviewParams{Model: model}, []byte("no JSON\n")).(PreviewResult)
	if none.Report.Examples != 0 || len(none.Report.Bad) != 1 || len(none.Examples) != 0 {
		t.Errorf("of no good line: %+v", none)
	}
	length := 12
	cut := p.must(OpPreviewData, PreviewParams{Model: model, Data: DataParams{MaxLength: &length}},
		[]byte(`{"text": "`+strings.Repeat("word ", 40)+`"}`)).(PreviewResult)
	if len(cut.Report.Cut) != 1 || cut.Examples[0].Tokens != 12 || cut.Examples[0].Cut != cut.Report.Cut[0].Tokens {
		t.Errorf("cut: %+v", cut)
	}
}

func TestRefusedTraining(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	negative := -1.0
	for name, c := range map[string]struct {
		params PrepareParams
		data   string
		want   Code
	}{
		"a bad line":   {PrepareParams{}, boat + "\n{}", CodeBadData},
		"no line":      {PrepareParams{}, "\n\n", CodeBadData},
		"no good line": {PrepareParams{Data: DataParams{BadLines: SkipBadLines}}, "{}", CodeBadData},
		"an unknown target": {PrepareParams{Settings: TrainingSettings{Targets: []string{"x"}}}, boat,
			CodeBadArgument},
		"no such layer":    {PrepareParams{Settings: TrainingSettings{Layers: []int{99}}}, boat, CodeBadArgument},
		"a negative rank":  {PrepareParams{Settings: TrainingSettings{Rank: -1}}, boat, CodeBadArgument},
		"epochs and steps": {PrepareParams{Settings: TrainingSettings{Epochs: 1, Steps: 1}}, boat, CodeBadArgument},
		"a negative clip":  {PrepareParams{Settings: TrainingSettings{Clip: &negative}}, boat, CodeBadArgument},
		"a negative dropout": {PrepareParams{Settings: TrainingSettings{WordDropout: &negative}}, boat,
			CodeBadArgument},
		"an odd precision":   {PrepareParams{Settings: TrainingSettings{Precision: "f8"}}, boat, CodeBadArgument},
		"too little memory":  {PrepareParams{Settings: TrainingSettings{MemoryBudget: 1 << 20}}, boat, CodeBadArgument},
		"negative memory":    {PrepareParams{Settings: TrainingSettings{MemoryBudget: -1}}, boat, CodeBadArgument},
		"an odd schedule":    {PrepareParams{Settings: TrainingSettings{Schedule: "steep"}}, boat, CodeBadArgument},
		"all held out":       {PrepareParams{HeldOut: new(float64)}, "", CodeBadData},
		"a negative part":    {PrepareParams{HeldOut: &negative}, boat, CodeBadArgument},
		"what to do with it": {PrepareParams{Data: DataParams{BadLines: "mend"}}, boat, CodeBadArgument},
	} {
		c.params.Model = model
		if _, failure := p.call(OpPrepare, c.params, []byte(c.data)); failure == nil || failure.Code != c.want {
			t.Errorf("%s: %+v, wanted %s", name, failure, c.want)
		}
	}
	resume := PrepareParams{Model: model, Resume: true}
	for _, checkpoint := range []string{"", "{}", "no checkpoint at all"} {
		if _, failure := p.call(OpPrepare, resume, []byte(boat), file([]byte(checkpoint))); failure == nil ||
			failure.Code != CodeBadFile {
			t.Errorf("a checkpoint of %q: %+v", checkpoint, failure)
		}
	}
	run := p.prepare(model, quick, boat)
	if _, failure := p.call(OpPrepare, PrepareParams{Model: model}, []byte(boat)); failure == nil ||
		failure.Code != CodeBusy {
		t.Errorf("a second run: %+v", failure)
	}
	p.must(OpEndTraining, RunParams{Run: run.Run})
	if _, failure := p.call(OpTrain, TrainParams{Run: run.Run}); failure == nil || failure.Code != CodeClosed {
		t.Errorf("a run that is closed: %+v", failure)
	}
	p.prepare(model, quick, boat)
	p.must(OpClose, ModelParams{Model: model})
}

func TestRefusedAdapters(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	config := []byte(`{"peft_type": "LORA", "r": 4, "lora_alpha": 8}`)
	for name, files := range map[string][][]byte{
		"nothing":              {nil},
		"no adapter":           {[]byte("GGUFx")},
		"a config alone":       {config},
		"weights that are not": {config, []byte("not safetensors")},
		"two configs":          {config, config},
	} {
		var sources []gguf.Source
		for _, data := range files {
			sources = append(sources, file(data))
		}
		if _, failure := p.call(OpLoadAdapter, AdapterParams{Model: model, Name: "x"},
			things(sources)...); failure == nil || failure.Code != CodeBadAdapter {
			t.Errorf("%s: %+v", name, failure)
		}
	}
	if _, failure := p.call(OpUseAdapters, UseAdaptersParams{Model: model,
		Use: []AdapterWeight{{Name: "x"}}}); failure == nil || failure.Code != CodeBadArgument {
		t.Errorf("one that is not loaded: %+v", failure)
	}
	if _, failure := p.call(OpUnloadAdapter, AdapterParams{Model: model, Name: "x"}); failure == nil ||
		failure.Code != CodeBadArgument {
		t.Errorf("one that is not loaded: %+v", failure)
	}
	p.must(OpClose, ModelParams{Model: model})
}
