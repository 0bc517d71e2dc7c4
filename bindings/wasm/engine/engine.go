package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// Options connect an engine to its surroundings.
type Options struct {
	// Post hands a reply over. It may be called from several goroutines.
	Post func(Reply)
	// Device is where models are computed that say nothing else.
	Device gemma4.Device
	// CodeOf is the code of an error from outside, such as a source's, or "".
	CodeOf func(error) Code

	// runCase, where set, examines kernels in place of their cases, in tests alone.
	runCase func(context.Context, opstest.Case, *ops.Kit) (float64, error)
}

// Engine runs requests, each in a goroutine of its own.
type Engine struct {
	options  Options
	verdicts verdicts

	mu       sync.Mutex
	running  map[int]context.CancelCauseFunc
	models   map[int]*openModel
	sessions map[int]*openSession
	runs     map[int]*openRun
	last     int // id of a model, session or run
}

// New makes an engine without models.
func New(o Options) *Engine {
	if o.CodeOf == nil {
		o.CodeOf = func(error) Code { return "" }
	}
	return &Engine{
		options: o, running: map[int]context.CancelCauseFunc{},
		models: map[int]*openModel{}, sessions: map[int]*openSession{}, runs: map[int]*openRun{},
	}
}

// Handle runs a request and returns at once. Sources are files that the request
// works on; the engine closes them. Binaries are the media that its params list,
// or training data.
func (e *Engine) Handle(raw []byte, binaries [][]byte, sources []gguf.Source) {
	var r Request
	if err := json.Unmarshal(raw, &r); err != nil {
		closeAll(sources)
		e.options.Post(Reply{Error: e.failure(fmt.Errorf("%w: a request that is not JSON: %w", errProtocol, err))})
		return
	}
	ctx, err := e.begin(r.ID)
	if err != nil {
		closeAll(sources)
		e.options.Post(Reply{ID: r.ID, Error: e.failure(err)})
		return
	}
	go e.run(ctx, &call{engine: e, Request: r, sources: sources, binaries: binaries})
}

// begin makes the context that ends when the request does, or is cancelled.
func (e *Engine) begin(id int) (context.Context, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.running[id]; taken {
		return nil, fmt.Errorf("%w: request %d is still under way", errProtocol, id)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	e.running[id] = cancel
	return ctx, nil
}

func closeAll(sources []gguf.Source) {
	for _, s := range sources {
		_ = s.Close()
	}
}

func (e *Engine) run(ctx context.Context, c *call) {
	result, err := c.do(ctx)
	closeAll(c.takeSources())
	e.mu.Lock()
	cancel := e.running[c.ID]
	delete(e.running, c.ID)
	e.mu.Unlock()
	cancel(nil)
	if err != nil {
		e.options.Post(Reply{ID: c.ID, Error: e.failure(err)})
		return
	}
	e.options.Post(Reply{ID: c.ID, Result: result})
}

// call is a request under way.
type call struct {
	Request
	engine   *Engine
	sources  []gguf.Source // those that nobody has taken yet
	binaries [][]byte      // images and clips of the messages, training data
}

// errProtocol says that the page's half does not speak the protocol.
var errProtocol = errors.New("unknown request")

func (c *call) do(ctx context.Context) (any, error) {
	handlers := map[Op]func(context.Context) (any, error){
		OpOpen: c.open, OpPlan: c.plan, OpClose: onModel(c, c.close),
		OpSession: onModel(c, c.session), OpSessionState: c.sessionState, OpReset: c.reset, OpEndSession: c.endSession,
		OpChat: c.chat, OpStop: onModel(c, c.stop),
		OpTokenize: onModel(c, c.tokenize), OpDetokenize: onModel(c, c.detokenize), OpCount: onModel(c, c.count),
		OpCheckForm:   onModel(c, c.checkForm),
		OpLoadAdapter: onModel(c, c.loadAdapter), OpUseAdapters: onModel(c, c.useAdapters),
		OpUnloadAdapter: onModel(c, c.unloadAdapter), OpAdapters: onModel(c, c.adapters),
		OpConvertAdapter: c.convertAdapter,
		OpPreviewData:    onModel(c, c.previewData), OpPrepare: onModel(c, c.prepareTraining),
		OpShowRun: onRun(c, c.showRun), OpTrain: onRun(c, c.train), OpPause: onRun(c, c.pauseTraining),
		OpRunAdapter: onRun(c, c.runAdapter),
		OpUseRun:     onRun(c, c.useRun), OpCheckpoint: onRun(c, c.checkpoint), OpEndTraining: onRun(c, c.endTraining),
		OpExamine: c.examine, OpMemory: c.memory, OpRelease: onModel(c, c.releaseTowers), OpCancel: c.cancel,
	}
	handle, ok := handlers[c.Op]
	if !ok {
		return nil, fmt.Errorf("%w: %q", errProtocol, c.Op)
	}
	return handle(ctx)
}

// params reads the request's parameters.
func params[P any](c *call) (p P, err error) {
	err = c.read(&p)
	return p, err
}

// read reads the request's parameters over what to holds. What is wrong with a
// setting has a sentence of its own.
func (c *call) read(to any) error {
	if len(c.Params) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.Params, to); errors.Is(err, sample.ErrParams) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %s: %w", errArgument, c.Op, misfit(err))
	}
	return nil
}

// misfit says in a page's words that a value is of another kind than belongs there.
func misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kind := "a number"
	switch wrong.Type.Kind() {
	case reflect.Bool:
		kind = "true or false"
	case reflect.String:
		kind = "a string"
	case reflect.Slice, reflect.Array:
		kind = "an array"
	case reflect.Struct, reflect.Map:
		kind = "an object"
	}
	return &misfitError{wrong, fmt.Sprintf("%s is %s where %s belongs", cmp.Or(wrong.Field, "it"), wrong.Value, kind)}
}

// misfitError is said in other words than the decoder's.
type misfitError struct {
	cause *json.UnmarshalTypeError
	text  string
}

func (e *misfitError) Error() string { return e.text }
func (e *misfitError) Unwrap() error { return e.cause }

// errArgument says that a caller gave something that no message can hold.
var errArgument = errors.New("bad argument")

func (c *call) event(e any) { c.engine.options.Post(Reply{ID: c.ID, Event: e}) }

// takeSources are the request's sources, which whoever calls closes from now on.
func (c *call) takeSources() []gguf.Source {
	sources := c.sources
	c.sources = nil
	return sources
}

func (c *call) cancel(context.Context) (any, error) {
	p, err := params[CancelParams](c)
	if err != nil {
		return nil, err
	}
	c.engine.mu.Lock()
	cancel := c.engine.running[p.Target]
	c.engine.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
	return Nothing{}, nil
}

// number gives out ids of models, sessions and runs. The lock is held.
func (e *Engine) number() int {
	e.last++
	return e.last
}
