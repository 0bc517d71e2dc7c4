package engine

// DataParams say how lines of JSONL become examples.
type DataParams struct {
	BadLines  BadLines `json:"badLines,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"` // tokens; 0: any number; absent: 2048
	AllTurns  bool     `json:"allTurns,omitempty"`  // learn every answer, not the last alone
}

// BadLines says what is done with lines that are no examples.
type BadLines string

// What can be done with them; empty is the first.
const (
	RefuseBadLines BadLines = "refuse"
	SkipBadLines   BadLines = "skip"
)

// PreviewParams ask what a model sees of the data in the request's first binary.
type PreviewParams struct {
	Model int        `json:"model"`
	Data  DataParams `json:"data"`
	Media []MediaRef `json:"media,omitempty"` // one for each further binary
	First int        `json:"first,omitempty"` // of the examples that are shown
	Count int        `json:"count,omitempty"`
}

// PreviewResult is what was read, and some examples of it.
type PreviewResult struct {
	Report   DataReport       `json:"report"`
	Examples []PreviewExample `json:"examples"`
}

// DataReport is what was read of training data.
type DataReport struct {
	Examples int       `json:"examples"`
	HeldOut  int       `json:"heldOut"`
	Tokens   int64     `json:"tokens"`  // of an epoch
	Targets  int64     `json:"targets"` // those of them that the model learns to say
	Bad      []BadLine `json:"bad"`     // lines that were passed over, the first thousand
	Cut      []CutLine `json:"cut"`     // examples that lost their ends, the first thousand
	// HeldOutLines are the lines of the data that are held out, the first thousand; none where
	// what is held out is data of its own.
	HeldOutLines []int `json:"heldOutLines"`
}

// BadLine says what is wrong with a line, counted from 1.
type BadLine struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// CutLine says how many tokens an example has lost.
type CutLine struct {
	Line   int `json:"line"`
	Tokens int `json:"tokens"`
}

// PreviewExample is an example as the model reads it.
type PreviewExample struct {
	Line    int            `json:"line"`
	Tokens  int            `json:"tokens"`
	Targets int            `json:"targets"`
	Cut     int            `json:"cut"`
	HeldOut bool           `json:"heldOut"`
	Pieces  []PreviewPiece `json:"pieces"`
}

// PreviewPiece is a stretch of an example: what the model is given, or what it
// learns to say.
type PreviewPiece struct {
	Text   string `json:"text"`
	Target bool   `json:"target"`
}

// TrainingSettings are those of finetune.Config; what is absent is its default.
type TrainingSettings struct {
	Rank            int      `json:"rank,omitempty"`
	Alpha           float64  `json:"alpha,omitempty"`
	Targets         []string `json:"targets,omitempty"` // q, k, v, output, gate, up, down
	Layers          []int    `json:"layers,omitempty"`
	Epochs          int      `json:"epochs,omitempty"`
	Steps           int      `json:"steps,omitempty"` // instead of Epochs
	LearningRate    float64  `json:"learningRate,omitempty"`
	Schedule        string   `json:"schedule,omitempty"`
	MinLearningRate float64  `json:"minLearningRate,omitempty"`
	Restarts        int      `json:"restarts,omitempty"`
	Warmup          int      `json:"warmup,omitempty"`
	BatchExamples   int      `json:"batchExamples,omitempty"`
	BatchTokens     int      `json:"batchTokens,omitempty"`
	Accumulate      int      `json:"accumulate,omitempty"`
	WeightDecay     *float64 `json:"weightDecay,omitempty"`
	Clip            *float64 `json:"clip,omitempty"`
	WordDropout     *float64 `json:"wordDropout,omitempty"` // 0 for none
	Seed            uint64   `json:"seed,omitempty"`
	EvaluateEvery   int      `json:"evaluateEvery,omitempty"`
	Patience        int      `json:"patience,omitempty"`
	Recompute       bool     `json:"recompute,omitempty"`
	Precision       string   `json:"precision,omitempty"`    // auto, f32, f16
	MemoryBudget    int64    `json:"memoryBudget,omitempty"` // bytes beside the weights
	// Keep is how many conversations the model makes up before the first step, to
	// which the run holds it; -1 is as many as suit it.
	Keep int `json:"keep,omitempty"`
}

// PrepareParams ask for a run over the data in the request's first binary. Where
// HeldOutData is set, the second one is what is held out; otherwise a part of the first.
// A run that is resumed has its settings in its checkpoint: the first source. A
// second one, in llama.cpp's form, is the best adapter so far.
type PrepareParams struct {
	Model       int              `json:"model"`
	Data        DataParams       `json:"data"`
	Settings    TrainingSettings `json:"settings"`
	Media       []MediaRef       `json:"media,omitempty"`   // one for each further binary
	HeldOut     *float64         `json:"heldOut,omitempty"` // absent: as finetune.DefaultHeldOut says
	HeldOutData bool             `json:"heldOutData,omitempty"`
	Resume      bool             `json:"resume,omitempty"`
}

// PrepareResult is a run before its first step, or where its checkpoint left it.
type PrepareResult struct {
	Run      int              `json:"run"`
	Step     int              `json:"step"` // steps made
	Plan     TrainingPlan     `json:"plan"`
	Report   DataReport       `json:"report"`
	Settings TrainingSettings `json:"settings"`
}

// TrainingPlan says what a run takes.
type TrainingPlan struct {
	Steps      int   `json:"steps"`
	Epochs     int   `json:"epochs"` // 0 where the steps were given
	Warmup     int   `json:"warmup"`
	Parameters int64 `json:"parameters"` // of the adapter
	Bytes      int64 `json:"bytes"`      // beside the weights, at most; 0 where a batch does not fit
	Layers     int   `json:"layers"`
	Saved      int   `json:"saved"`      // layers whose activations are saved for the backward pass
	Recomputed int   `json:"recomputed"` // and those that are computed again
	Halves     bool  `json:"halves"`     // what is kept waits as float16
	Rehearsed  int   `json:"rehearsed"`  // conversations that the model is held to
}

// RehearsalEvent is how many conversations the model has made up. The last one has
// the plan of the run with them.
type RehearsalEvent struct {
	Type  string        `json:"type"` // rehearsal
	Done  int           `json:"done"`
	Total int           `json:"total"`
	Plan  *TrainingPlan `json:"plan,omitempty"`
}

// RunParams name a run.
type RunParams struct {
	Run int `json:"run"`
}

// ShowParams ask for some examples of a run.
type ShowParams struct {
	Run   int `json:"run"`
	First int `json:"first,omitempty"`
	Count int `json:"count,omitempty"`
}

// ShowResult are examples.
type ShowResult struct {
	Examples []PreviewExample `json:"examples"`
}

// TrainParams ask for so many steps; 0 is all that are left.
type TrainParams struct {
	Run   int `json:"run"`
	Steps int `json:"steps,omitempty"`
}

// StepEvent is a step that was made.
type StepEvent struct {
	Type            string   `json:"type"` // step
	Step            int      `json:"step"` // from 1
	Steps           int      `json:"steps"`
	Epoch           int      `json:"epoch"` // from 1
	Loss            float64  `json:"loss"`  // the mean over the targets
	LearningRate    float64  `json:"learningRate"`
	GradientNorm    float64  `json:"gradientNorm"` // before clipping
	Tokens          int      `json:"tokens"`
	Milliseconds    float64  `json:"milliseconds"`
	TokensPerSecond float64  `json:"tokensPerSecond"`
	SecondsLeft     float64  `json:"secondsLeft"`
	MemoryBytes     int64    `json:"memoryBytes"`
	HeldOutLoss     *float64 `json:"heldOutLoss,omitempty"` // where it was looked at after this step
	Best            bool     `json:"best,omitempty"`        // that is the least so far
	Divergence      float64  `json:"divergence,omitempty"`  // how far the model has moved from what it is held to
}

// TrainState says why steps ended.
type TrainState string

// The states.
const (
	TrainSteps    TrainState = "steps" // as many as were asked for are made
	TrainPaused   TrainState = "paused"
	TrainFinished TrainState = "finished"
	TrainEarly    TrainState = "early-stop"
)

// TrainResult is how far a run is.
type TrainResult struct {
	State           TrainState `json:"state"`
	Step            int        `json:"step"`
	Loss            float64    `json:"loss"` // of the last step that was made since the run was opened
	BestHeldOutLoss *float64   `json:"bestHeldOutLoss,omitempty"`
	UsesBest        bool       `json:"usesBest"` // the best adapter is there, beside the last
}

// PauseParams ask a run to pause: after the step under way, or now, in which case
// that step is as if it had not begun.
type PauseParams struct {
	Run int  `json:"run"`
	Now bool `json:"now,omitempty"`
}

// Which says which adapter of a run is meant; empty is the best where there is one.
type Which string

// The choices.
const (
	WhichBest Which = "best"
	WhichLast Which = "last"
)

// RunAdapterParams ask for a run's adapter in files.
type RunAdapterParams struct {
	Run    int           `json:"run"`
	Format AdapterFormat `json:"format"`
	Name   string        `json:"name,omitempty"`
	Which  Which         `json:"which,omitempty"`
}

// UseRunParams ask that the run's model compute with the run's adapter, loaded
// under a name, and with no others.
type UseRunParams struct {
	Run    int      `json:"run"`
	Name   string   `json:"name"`
	Weight *float32 `json:"weight,omitempty"`
	Which  Which    `json:"which,omitempty"`
}

// CheckpointResult says after which step a checkpoint was taken.
type CheckpointResult struct {
	Step int `json:"step"`
}
