package engine

import (
	"encoding/json"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// Request asks for something. Its ID is the caller's choice and comes back
// with every reply; no two requests under way have the same one.
type Request struct {
	ID     int             `json:"id"`
	Op     Op              `json:"op"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Reply answers a request: any number of events, then a result or an error. A notice
// answers none, and has the ID 0.
type Reply struct {
	ID     int      `json:"id"`
	Event  any      `json:"event,omitempty"`
	Result any      `json:"result,omitempty"`
	Error  *Failure `json:"error,omitempty"`
	Notice *Notice  `json:"notice,omitempty"`
	// Data are bytes that go with an event. They are good until Options.Post
	// returns.
	Data []byte `json:"-"`
}

// Notice tells what was found out about a GPU's kernels, now or on the way; Type says
// which of the others it has.
type Notice struct {
	Type     NoticeType        `json:"type"`
	Model    int               `json:"model,omitempty"`    // 0 while it opens
	Done     int               `json:"done,omitempty"`     // check: kernels
	Total    int               `json:"total,omitempty"`    // check
	Findings *checkup.Findings `json:"findings,omitempty"` // found: as Info.Kernels has them
	// Verdict is what is to be kept for the next opening with this preference.
	Verdict         *Verdict                `json:"verdict,omitempty"`
	PowerPreference wgslkit.PowerPreference `json:"powerPreference,omitempty"` // verdict
}

// NoticeType says what a notice is about.
type NoticeType string

// The notices.
const (
	NoticeCheck   NoticeType = "check"   // how far an examination is that an open model waits for
	NoticeFound   NoticeType = "found"   // what came of it
	NoticeVerdict NoticeType = "verdict" // an adapter's verdict has changed
)

// Op names what a request asks for.
type Op string

// The requests, with their parameters, events and results.
const (
	OpOpen         Op = "open"         // OpenParams, LoadProgress, OpenResult; with sources
	OpPlan         Op = "plan"         // OpenParams, LoadProgress, PlanResult; with sources
	OpClose        Op = "close"        // ModelParams, none, Nothing
	OpSession      Op = "session"      // SessionParams, none, SessionResult
	OpSessionState Op = "sessionState" // SessionRef, none, SessionResult
	OpReset        Op = "reset"        // SessionRef, none, Nothing
	OpEndSession   Op = "endSession"   // SessionRef, none, Nothing
	OpChat         Op = "chat"         // ChatParams, ChatEvent, Nothing
	OpStop         Op = "stop"         // ModelParams, none, Nothing: ends the model's answers
	OpTokenize     Op = "tokenize"     // TokenizeParams, none, TokensResult
	OpDetokenize   Op = "detokenize"   // DetokenizeParams, none, TextResult
	OpCount        Op = "count"        // CountParams, none, CountResult
	OpCheckForm    Op = "checkForm"    // FormParams, none, Nothing: fails where the form cannot be kept

	OpLoadAdapter    Op = "loadAdapter"    // AdapterParams, none, AdaptersResult; with sources
	OpUseAdapters    Op = "useAdapters"    // UseAdaptersParams, none, AdaptersResult
	OpUnloadAdapter  Op = "unloadAdapter"  // AdapterParams, none, AdaptersResult
	OpAdapters       Op = "adapters"       // ModelParams, none, AdaptersResult
	OpConvertAdapter Op = "convertAdapter" // ConvertParams, FileChunk, Nothing; with sources

	OpPreviewData Op = "previewData" // PreviewParams, none, PreviewResult; with binaries
	// PrepareParams, none, PrepareResult; with binaries, and sources to resume from
	OpPrepare     Op = "prepareTraining"
	OpShowRun     Op = "showRun"       // ShowParams, none, ShowResult
	OpTrain       Op = "train"         // TrainParams, RehearsalEvent or StepEvent, TrainResult
	OpPause       Op = "pauseTraining" // PauseParams, none, Nothing
	OpRunAdapter  Op = "runAdapter"    // RunAdapterParams, FileChunk, Nothing
	OpUseRun      Op = "useRun"        // UseRunParams, none, AdaptersResult
	OpCheckpoint  Op = "checkpoint"    // RunParams, FileChunk, CheckpointResult
	OpEndTraining Op = "endTraining"   // RunParams, none, Nothing

	OpExamine Op = "examine"       // ExamineParams, ExamineProgress, Verdict
	OpMemory  Op = "memory"        // ModelParams, none, MemoryResult
	OpRelease Op = "releaseTowers" // ModelParams, none, Nothing: until the next medium comes
	OpCancel  Op = "cancel"        // CancelParams, none, Nothing: ends another request
)

// Nothing is the result of what only succeeds.
type Nothing struct{}

// OpenParams say how a model is opened. Its sources are the parts of the text
// model, in their order, and behind them the projector (mmproj) if there is one, and
// the assistant's file if there is one.
type OpenParams struct {
	// Device is auto, gpu or cpu; empty is auto.
	Device Device `json:"device,omitempty"`
	Parts  int    `json:"parts,omitempty"` // of the text model; 0 is 1
	// the last source is one's, which guesses what the model will say
	Assistant    bool  `json:"assistant,omitempty"`
	Context      int   `json:"context,omitempty"`      // tokens a session holds; 0: as gemma4.OpenOptions
	MemoryBudget int64 `json:"memoryBudget,omitempty"` // bytes of GPU memory; 0: no bound
	// KVCache is f16 or q8; empty is f16.
	KVCache gemma4.CacheType `json:"kvCache,omitempty"`
	// PowerPreference is WebGPU's: empty is "high-performance".
	PowerPreference wgslkit.PowerPreference `json:"powerPreference,omitempty"`
	Verdict         *Verdict                `json:"verdict,omitempty"`   // what is known of the adapter
	Unchecked       bool                    `json:"unchecked,omitempty"` // take kernels that were not examined
	TextOnly        bool                    `json:"textOnly,omitempty"`  // refuse images and audio
	// Smaller asks a plan for a suggestion even where it fits: what was
	// reckoned to fit has failed.
	Smaller bool `json:"smaller,omitempty"`
}

// Device is where a model is wished to be computed.
type Device string

// The devices.
const (
	DeviceAuto Device = "auto" // the GPU; or the CPU, where there is none or only a software rasterizer
	DeviceGPU  Device = "gpu"
	DeviceCPU  Device = "cpu"
)

// LoadProgress is how far opening is, in bytes; a total of 0 is not known.
// Kernels are 0 of 0 while they compile, and are counted while they are checked.
type LoadProgress struct {
	Phase string `json:"phase"` // header, check, weights, kernels
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// OpenResult is an open model with a first session: the one that its plan counts.
type OpenResult struct {
	Model   int           `json:"model"`
	Session SessionResult `json:"session"`
	Info    gemma4.Info   `json:"info"`
	Media   Media         `json:"media"`
}

// PlanResult says where the model's tensors would live. Where they do not fit,
// Plan is the smallest that was tried.
type PlanResult struct {
	Fits       bool         `json:"fits"`
	Plan       *gemma4.Plan `json:"plan"`
	Suggestion *Suggestion  `json:"suggestion,omitempty"`
}

// Suggestion is a plan that fits, or that is at least smaller; or another device.
type Suggestion struct {
	Device       Device `json:"device,omitempty"`
	Context      int    `json:"context,omitempty"`
	MemoryBudget int64  `json:"memoryBudget,omitempty"`
}

// ModelParams name a model.
type ModelParams struct {
	Model int `json:"model"`
}

// SessionParams ask for a session of a model.
type SessionParams struct {
	Model   int `json:"model"`
	Context int `json:"context,omitempty"` // 0: the model's
}

// SessionRef names a session.
type SessionRef struct {
	Session int `json:"session"`
}

// SessionResult describes a session.
type SessionResult struct {
	Session int `json:"session"`
	Context int `json:"context"` // tokens it holds
	Length  int `json:"length"`  // tokens in its caches
}

// ChatParams are a conversation and how to answer it. What is left out of the
// sampling is as Gemma recommends; without a seed, each answer differs.
type ChatParams struct {
	Session  int            `json:"session"`
	Messages []chat.Message `json:"messages"`
	Media    []MediaRef     `json:"media,omitempty"` // one for each binary
	Tools    []chat.Tool    `json:"tools,omitempty"`
	Thinking bool           `json:"thinking,omitempty"`
	// Form is what the answer must look like; with one, it calls tools only where Calls require it.
	Form *gemma4.Form `json:"form,omitempty"`
	// Calls say how the tools are called.
	Calls *CallParams `json:"calls,omitempty"`
	// PreserveThinking keeps what was thought before the calls of earlier turns.
	PreserveThinking bool `json:"preserveThinking,omitempty"`
	// Forget leaves out the oldest turns where their room is needed.
	Forget bool `json:"forget,omitempty"`
	sample.Params
	MaxTokens int      `json:"maxTokens,omitempty"` // 0: what the context leaves
	Stop      []string `json:"stop,omitempty"`
	// Drafts and AssistantDrafts are how many tokens are guessed at once, at most, as
	// gemma4.Choosing has them.
	Drafts          int `json:"drafts,omitempty"`
	AssistantDrafts int `json:"assistantDrafts,omitempty"`
	// ThinkingBudget and RepetitionGuard are as gemma4.GenerateOptions has them.
	ThinkingBudget  int `json:"thinkingBudget,omitempty"`
	RepetitionGuard int `json:"repetitionGuard,omitempty"`
}

// CallParams say whether an answer calls tools, and which.
type CallParams struct {
	Choice string `json:"choice,omitempty"` // auto, none, required or free; empty is auto
	Name   string `json:"name,omitempty"`   // the tool to call
	Single bool   `json:"single,omitempty"` // one call at most
}

// ChatEvent is a part of an answer. Type says which of the others it has: forgotten, media,
// prefill, text, thinking, tool_call, malformed_call or done.
type ChatEvent struct {
	Type  string        `json:"type"`
	Kind  chat.PartType `json:"kind,omitempty"`  // media: image or audio
	Text  string        `json:"text,omitempty"`  // text, thinking, malformed_call
	Call  *Call         `json:"call,omitempty"`  // tool_call
	Error string        `json:"error,omitempty"` // malformed_call
	// Repairs are, of tool_call, what had to be mended of the call.
	Repairs []string `json:"repairs,omitempty"`
	// Messages and Known are, of forgotten, how many messages were left out and how many not.
	Messages int         `json:"messages,omitempty"`
	Known    int         `json:"known,omitempty"`
	Done     *int        `json:"done,omitempty"`   // media, prefill
	Total    *int        `json:"total,omitempty"`  // media, prefill
	Reason   chat.Reason `json:"reason,omitempty"` // done
	Stop     string      `json:"stop,omitempty"`   // done: the string that ended it
	InCall   bool        `json:"inCall,omitempty"` // done: it was cut within a tool call
	Usage    *Usage      `json:"usage,omitempty"`  // done
	// Tokens are those chosen since the event before, where log-probabilities were asked for.
	Tokens []ChosenToken `json:"tokens,omitempty"`
}

// TokenLogProb is a token with the natural logarithm of its probability under
// the model alone.
type TokenLogProb struct {
	ID      int32   `json:"id"`
	Text    string  `json:"text"`
	LogProb float32 `json:"logProb"`
}

// ChosenToken is a token of an answer, with the most probable ones in its place,
// best first.
type ChosenToken struct {
	TokenLogProb
	Top []TokenLogProb `json:"top"`
}

// Call is a tool call as a page sees it.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Usage counts an answer's tokens and time.
type Usage struct {
	PromptTokens    int     `json:"promptTokens"`
	ComputedTokens  int     `json:"computedTokens"`      // of the prompt, those that were not cached
	Forgotten       int     `json:"forgotten,omitempty"` // messages that were left out
	Media           int     `json:"media,omitempty"`     // images and clips that were encoded
	AnswerTokens    int     `json:"answerTokens"`
	Forced          int     `json:"forced,omitempty"`        // of them, those that the form left no choice of
	Drafted         int     `json:"drafted,omitempty"`       // tokens guessed ahead
	DraftsRight     int     `json:"draftsRight,omitempty"`   // of them, those that the model chose
	Assisted        int     `json:"assisted,omitempty"`      // of those guessed, the assistant's
	AssistedRight   int     `json:"assistedRight,omitempty"` // of the assistant's, those that the model chose
	MediaMs         float64 `json:"mediaMs,omitempty"`
	PrefillMs       float64 `json:"prefillMs"` // that of media included
	DecodeMs        float64 `json:"decodeMs"`
	TokensPerSecond float64 `json:"tokensPerSecond"` // of decoding
}

// TokenizeParams are a text. In a special one, control tokens are found.
type TokenizeParams struct {
	Model   int    `json:"model"`
	Text    string `json:"text"`
	Special bool   `json:"special,omitempty"`
}

// TokensResult are token ids.
type TokensResult struct {
	Tokens []int `json:"tokens"`
}

// DetokenizeParams are token ids.
type DetokenizeParams struct {
	Model  int   `json:"model"`
	Tokens []int `json:"tokens"`
}

// TextResult is a text.
type TextResult struct {
	Text string `json:"text"`
}

// FormParams are a form that answers may be held to.
type FormParams struct {
	Model int         `json:"model"`
	Form  gemma4.Form `json:"form"`
}

// CountParams are a conversation whose prompt is to be counted.
type CountParams struct {
	Model            int            `json:"model"`
	Messages         []chat.Message `json:"messages"`
	Media            []MediaRef     `json:"media,omitempty"` // one for each binary
	Tools            []chat.Tool    `json:"tools,omitempty"`
	Thinking         bool           `json:"thinking,omitempty"`
	PreserveThinking bool           `json:"preserveThinking,omitempty"`
}

// CountResult is a number of tokens.
type CountResult struct {
	Tokens int `json:"tokens"`
}

// ExamineParams say whose verdict it is, and whether all cases are run even
// where that takes minutes.
type ExamineParams struct {
	Version string `json:"version"`
	Full    bool   `json:"full,omitempty"`
	// PowerPreference chooses the adapter, as in OpenParams.
	PowerPreference wgslkit.PowerPreference `json:"powerPreference,omitempty"`
}

// ExamineProgress is how far the self-test is.
type ExamineProgress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Name  string `json:"name"` // of the op that comes next
}

// MemoryResult is what a model and Go itself hold, in bytes.
type MemoryResult struct {
	Heap   uint64                    `json:"heap"`   // Go's, live and not yet collected
	System uint64                    `json:"system"` // taken from WebAssembly's memory
	GPU    map[wgslkit.Purpose]int64 `json:"gpu"`    // by purpose
}

// CancelParams name the request to end.
type CancelParams struct {
	Target int `json:"target"`
}
