package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Options say what is answered, and how.
type Options struct {
	Handler http.Handler // what answers
	Model   string       // takes the place of the one that requests name; empty leaves it
	// Shard of Shards says which requests are answered here: those of every Shards-th line, from number Shard on.
	// Shards of 0 or 1 are all.
	Shard, Shards int
	AtOnce        int // requests under way; 1 where it is 0
	// Retry, where set, has the answers of an earlier run, of which those that failed are made again and the others are
	// copied. The output is another place, which is empty.
	Retry io.Reader
	// Progress hears of each answer that was written.
	Progress func(Summary)
	// SyncEach is how often answers are brought to where they survive; 0 means 5 s.
	SyncEach time.Duration

	seen int // custom_ids that are remembered; mostSeen where it is 0
}

// Summary is what was done.
type Summary struct {
	Requests     int64         `json:"requests"` // that were answered now
	Before       int64         `json:"answeredBefore"`
	FailedBefore int64         `json:"failedBefore"` // or could not be asked then
	Answered     int64         `json:"answered"`     // with a status of 2xx
	Failed       int64         `json:"failed"`       // with another status
	Refused      int64         `json:"refused"`      // lines that could not be asked
	Empty        int64         `json:"empty"`        // of those answered: the model ended an answer before a word
	InputTokens  int64         `json:"inputTokens"`
	OutputTokens int64         `json:"outputTokens"`
	FirstFault   string        `json:"firstFault,omitempty"` // why the first request that failed did
	Time         time.Duration `json:"-"`
	Seconds      float64       `json:"seconds"`
}

// What waits to be written is bounded by its number and by its bytes: one long answer does not stop the others, and
// many large requests do not fill the memory.
const (
	aheadEach  = 8
	mostQueued = 256 << 20
)

// syncEach is how often answers are brought to the disk, unless it is said.
const syncEach = 5 * time.Second

// run is a batch under way.
type run struct {
	Options
	input  *lines
	before *before // nil once its last answer went by
	went   int64   // answers of before
	output Output
	bytes  *budget
	ids    *seen
	mu     sync.Mutex // guards sum
	sum    Summary
	begun  time.Time
	synced time.Time
}

// item is a request on its way to its answer.
type item struct {
	request request
	size    int64
	line    []byte // the answer
	kept    bool   // that of an earlier run
	status  int
	in, out int64 // tokens
	empty   bool
	done    chan struct{}
}

// Run answers the requests of input in order. output may hold answers of an earlier run, which are not made again; a
// torn one at its end is. On an error, or when ctx ends, it holds whole lines, and Run can be called again.
func Run(ctx context.Context, input io.Reader, output Output, o Options) (Summary, error) {
	r := newRun(input, o)
	r.output = output
	earlier, err := output.Earlier()
	if err != nil {
		return r.sum, err
	}
	if o.Retry != nil {
		earlier = o.Retry
	}
	if earlier != nil {
		r.before = &before{lines: newLines(earlier, 2*mostAnswer)}
	}
	err = r.all(ctx)
	r.sum.Time = time.Since(r.begun)
	r.sum.Seconds = r.sum.Time.Seconds()
	return r.sum, errors.Join(err, output.Sync())
}

func newRun(input io.Reader, o Options) *run {
	o.AtOnce = max(1, o.AtOnce)
	o.Shards = max(1, o.Shards)
	if o.Progress == nil {
		o.Progress = func(Summary) {}
	}
	if o.SyncEach == 0 {
		o.SyncEach = syncEach
	}
	if o.seen == 0 {
		o.seen = mostSeen
	}
	return &run{
		Options: o, input: newLines(input, MostLine), bytes: newBudget(mostQueued), ids: newSeen(o.seen),
		begun: time.Now(), synced: time.Now(),
	}
}

// all reads, asks and writes at once.
func (r *run) all(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	run := func(part func() error) {
		group.Go(func() {
			if err := part(); err != nil {
				stop(err) // the first one counts
			}
		})
	}
	ordered := make(chan *item, aheadEach*r.AtOnce)
	work := make(chan *item)
	run(func() error {
		defer close(ordered)
		defer close(work)
		return r.read(ctx, ordered, work)
	})
	for range r.AtOnce {
		run(func() error { return r.ask(ctx, work) })
	}
	run(func() error { return r.write(ctx, ordered) })
	group.Wait()
	return context.Cause(ctx)
}

// read hands out the requests of this shard that have no answer yet.
func (r *run) read(ctx context.Context, ordered, work chan<- *item) error {
	for number, requests := int64(1), int64(0); ; number++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, long, _, err := r.input.next()
		if errors.Is(err, io.EOF) {
			return r.endBefore()
		}
		if err != nil {
			return fmt.Errorf("reading the requests: %w", err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		it := &item{request: parse(line, long, number, r.Model), done: make(chan struct{})}
		if id := it.request.customID; id != "" && r.ids.add(id) {
			it.request = it.request.refuse("duplicate_custom_id", "an earlier line has the same custom_id")
		}
		mine := requests%int64(r.Shards) == int64(r.Shard)
		requests++
		if !mine {
			continue
		}
		switch there, err := r.wasAnswered(it.request); {
		case err != nil:
			return err
		case there != nil && r.Retry == nil:
			continue
		case there != nil && !there.failed:
			it.line, it.kept = there.line, true
		}
		if err := r.hand(ctx, it, ordered, work); err != nil {
			return err
		}
	}
}

// hand passes on an item: to the writer, who keeps the order, and to whoever asks.
func (r *run) hand(ctx context.Context, it *item, ordered, work chan<- *item) error {
	it.size = min(int64(len(it.request.body)+len(it.line))+1024, mostQueued)
	if err := r.bytes.take(ctx, it.size); err != nil {
		return err
	}
	select {
	case ordered <- it:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if it.kept {
		close(it.done)
		return nil
	}
	if it.request.fault != nil {
		line, err := lineOf(it.request, 0, nil)
		it.line = line
		close(it.done)
		return err
	}
	select {
	case work <- it:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wasAnswered is what an earlier run has answered to a request, nil for nothing.
func (r *run) wasAnswered(q request) (*earlier, error) {
	if r.before == nil {
		return nil, nil
	}
	a, err := r.before.next()
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, r.cut()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	mended := r.Retry != nil && a.failed && a.customID == "" // a line that could not be read then
	if r.went++; a.customID != q.customID && !mended {
		return nil, fmt.Errorf("%w: answer %d is to %.60q, and the request is %.60q; name another output, or the "+
			"same input and shard as before", ErrOther, r.went, a.customID, q.customID)
	}
	switch {
	case !a.failed && r.Retry == nil:
		r.sum.Before++
	case r.Retry == nil:
		r.sum.FailedBefore++
	}
	return a, nil
}

// endBefore looks at the output's end where no request is left.
func (r *run) endBefore() error {
	if r.before == nil {
		return nil
	}
	if a, err := r.before.next(); err != nil {
		return err
	} else if a != nil {
		return fmt.Errorf("%w: it has more answers than there are requests; name another output", ErrOther)
	}
	return r.cut()
}

func (r *run) cut() error {
	b := r.before
	r.before = nil
	if r.Retry != nil {
		return nil
	}
	return r.output.Cut(b.end)
}

// ask has requests answered, until there are no more.
func (r *run) ask(ctx context.Context, work <-chan *item) error {
	for it := range work {
		status, body, err := ask(ctx, r.Handler, it.request)
		if err != nil {
			return err
		}
		it.status = status
		it.in, it.out = usage(body)
		it.empty = isEmpty(it.request.url, body)
		if it.line, err = lineOf(it.request, status, body); err != nil {
			return err
		}
		it.request.body = nil
		close(it.done)
	}
	return nil
}

// write appends the answers in the order of the requests, each line at once.
func (r *run) write(ctx context.Context, ordered <-chan *item) error {
	for {
		var it *item
		var ok bool
		select {
		case it, ok = <-ordered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !ok {
			return nil
		}
		select {
		case <-it.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if _, err := r.output.Write(it.line); err != nil {
			return fmt.Errorf("writing the answers: %w", err)
		}
		r.bytes.give(it.size)
		r.count(it)
		if time.Since(r.synced) > r.SyncEach {
			if err := r.output.Sync(); err != nil {
				return fmt.Errorf("writing the answers: %w", err)
			}
			r.synced = time.Now()
		}
	}
}

func (r *run) count(it *item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if it.kept {
		r.sum.Before++
		r.Progress(r.sum)
		return
	}
	r.sum.Requests++
	switch {
	case it.request.fault != nil:
		r.sum.Refused++
	case it.status/100 == 2:
		r.sum.Answered++
		if it.empty {
			r.sum.Empty++
		}
	default:
		r.sum.Failed++
	}
	if r.sum.FirstFault == "" {
		r.sum.FirstFault = faultOf(it)
	}
	r.sum.InputTokens += it.in
	r.sum.OutputTokens += it.out
	r.sum.Time = time.Since(r.begun)
	r.Progress(r.sum)
}

// faultOf is why a request has no answer, empty for one that has.
func faultOf(it *item) string {
	q := it.request
	if q.fault != nil {
		return fmt.Sprintf("line %d: %s", q.number, q.fault.Message)
	}
	if it.status/100 == 2 {
		return ""
	}
	return fmt.Sprintf("line %d, %.60q: %d %.300s", q.number, q.customID, it.status, errorIn(it.line))
}
