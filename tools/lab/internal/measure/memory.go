package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

// ErrPromise says that a model took another amount of memory than its plan said.
var ErrPromise = errors.New("a memory plan was not kept")

// MemoryOptions say which plans are made for a model.
type MemoryOptions struct {
	Budgets []int64 // bytes
	// Context is the tokens of the first plan of each budget. Others hold as many as fit.
	Context int
	GPU     wgslkit.Options
	// Run has each plan kept to: the model is opened within the budget and answers.
	Run bool
	// Progress, where set, hears what is done now.
	Progress func(what string)
}

// MemoryRow is what a plan promises of a model within a budget, and what it took.
type MemoryRow struct {
	Model  string `json:"model"`
	Budget int64  `json:"budget"`

	Plan     *gemma4.Plan `json:"plan"`
	InFile   []string     `json:"in_file"`  // tensors that are left in the file
	Promised int64        `json:"promised"` // bytes, all together
	Misfit   string       `json:"misfit,omitempty"`

	// Where it was run:
	Taken   int64   `json:"taken,omitempty"` // the most bytes in use at once, without drafts
	Seconds float64 `json:"seconds,omitempty"`
	Failure string  `json:"failure,omitempty"`
}

// Unguessed is what is promised where nothing is guessed ahead, as in a run.
func (r MemoryRow) Unguessed() int64 { return r.Promised - r.Plan.Drafts }

// The sizes of a run, and of what is promised.
const (
	memoryPrompt = 600 // tokens: more than a chunk, where the context has room for them
	memoryAnswer = 8
	memoryStep   = 1024 // contexts are multiples of it
	memoryMargin = 0.01 // of what is promised
)

// Memory plans a model for each budget: for a context of o.Context tokens, for the
// longest, and where that is less than the model was made for, for the longest with a
// cache of 8 bits. open opens the file anew for each. What was not kept to is told in
// its row, and by Kept.
func Memory(ctx context.Context, model string, open func() (*gguf.File, error), o MemoryOptions) ([]MemoryRow, error) {
	var rows []MemoryRow
	for _, budget := range o.Budgets {
		o.GPU.MemoryBudget = budget
		m := &memoryPlanner{options: o, open: open}
		if err := m.plan(); err != nil {
			return rows, fmt.Errorf("%s: %w", model, err)
		}
		for _, row := range m.rows {
			row.Model = model
			if o.Run && row.Misfit == "" {
				o.say("%s with %d tokens in %s", model, row.Plan.Context, row.Plan.KVCache)
				if err := m.run(ctx, &row); err != nil {
					return rows, fmt.Errorf("%s: %w", model, err)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (o MemoryOptions) say(format string, values ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, values...))
	}
}

// Kept fails with ErrPromise where a row was run and took what it had not promised.
func Kept(rows []MemoryRow) error {
	var errs []error
	for _, r := range rows {
		if r.Failure != "" {
			errs = append(errs, fmt.Errorf("%w: %s within %d bytes: %s", ErrPromise, r.Model, r.Budget, r.Failure))
		}
	}
	return errors.Join(errs...)
}

// memoryPlanner makes the plans of one model within one budget.
type memoryPlanner struct {
	options MemoryOptions
	open    func() (*gguf.File, error)
	rows    []MemoryRow
}

func (m *memoryPlanner) plan() error {
	file, err := m.open()
	if err != nil {
		return err
	}
	defer file.Close()
	opts := gemma4.OpenOptions{Device: gemma4.DeviceGPU, GPU: m.options.GPU, UncheckedKernels: true}
	longest, err := m.add(gemma4.LongestContext(file, opts, memoryStep))
	if err != nil || longest == nil {
		return err
	}
	if n := m.options.Context; n < longest.Context {
		opts.Context = n
		if _, err := m.add(gemma4.PlanFor(file, opts)); err != nil {
			return err
		}
		m.rows[0], m.rows[1] = m.rows[1], m.rows[0]
	}
	opts.Context, opts.KVCache = 0, gemma4.CacheQ8
	if more, err := gemma4.LongestContext(file, opts, memoryStep); err != nil || more.Context > longest.Context {
		_, err = m.add(more, err)
		return err
	}
	return nil
}

// add adds a row for a plan. It returns the plan where it fits.
func (m *memoryPlanner) add(plan *gemma4.Plan, err error) (*gemma4.Plan, error) {
	if plan == nil || err != nil && !errors.Is(err, gemma4.ErrDoesNotFit) {
		return nil, err
	}
	row := MemoryRow{Budget: m.options.GPU.MemoryBudget, Plan: plan, InFile: []string{}, Promised: plan.Total()}
	for _, e := range plan.Entries {
		if e.Where == gemma4.RowByRow {
			row.InFile = append(row.InFile, e.Name)
		}
	}
	if err != nil {
		row.Misfit, plan = err.Error(), nil
	}
	m.rows = append(m.rows, row)
	return plan, nil
}

// run opens the model as planned, within the budget, and has it answer.
func (m *memoryPlanner) run(ctx context.Context, row *MemoryRow) error {
	begun := time.Now()
	taken, err := m.answer(ctx, row.Plan)
	row.Taken, row.Seconds = taken, time.Since(begun).Seconds()
	promised := row.Unguessed()
	switch off := math.Abs(float64(taken-promised)) / float64(promised); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		row.Failure = err.Error()
	case off > memoryMargin:
		row.Failure = fmt.Sprintf("%d bytes are promised and %d were taken", promised, taken)
	}
	return nil
}

// answer is the most bytes that were in use at once.
func (m *memoryPlanner) answer(ctx context.Context, plan *gemma4.Plan) (taken int64, err error) {
	file, err := m.open()
	if err != nil {
		return 0, err
	}
	model, err := gemma4.OpenGGUF(ctx, file, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU, GPU: m.options.GPU, Context: plan.Context, KVCache: plan.KVCache,
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	session, err := model.NewSession(0)
	if err != nil {
		return 0, err
	}
	defer session.Close()
	prompt := gemma4.Tokens(bench.RandomTokens(min(memoryPrompt, plan.Context/2), model.Info().Vocab))
	for _, err := range session.Choose(ctx, prompt, gemma4.Choosing{MaxTokens: memoryAnswer, Drafts: gemma4.NoDrafts}) {
		if err != nil {
			return 0, err
		}
	}
	return model.Kit().Device().Peak(), nil
}
