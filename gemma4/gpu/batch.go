package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// batch holds several texts on the GPU. Its caches have a stream for each slot. A step is a
// pass over a row for each text, which says where it stands and in which stream; then the
// samplers choose, one for each row, and all choices are read at once.
type batch struct {
	engine   *Engine
	sizing   sizing
	adapters *adapterWeights // that the programs were recorded with
	options  engine.BatchOptions

	caches  []*ops.KVCache
	words   *wgslkit.Buffer // the state words that prompts and passes read
	wide    *activations    // of a piece of a prompt
	single  *activations    // of a prompt's last token, which nobody reads
	rows    *activations    // of a pass
	results *wgslkit.Buffer // what the seats chose
	moved   *wgslkit.Buffer // what is copied from stream to stream passes through it

	lower, lowerMedia *ops.Recording
	widths            []int            // of passes
	passes            []*ops.Recording // over so many rows at most
	choices           []*ops.Recording // of the first 1, 2, 4 … seats, where none has a mask

	seats    []*seat
	slots    []batchSlot
	pending  *pass // under way, of what the last step chose; nil for none
	mask     []uint32
	logits   []float32 // of a row, where the host chooses
	raw      []byte    // of results
	outcomes []engine.Outcome
}

// batchSlot is a text.
type batchSlot struct {
	cached, written int // as state has them
	started         bool
	params          sample.Params
	history         []int32 // its last token is not computed
	masks           engine.Masks
	breakers        sample.Breakers
	host            *sample.Sampler // of choices that no kernel can make (hosted); nil where the GPU chooses
	seat            int             // noSeat while it has none
}

const noSeat = -1

// NewBatch makes all that the texts take.
func (e *Engine) NewBatch(o engine.BatchOptions) (engine.Batch, error) {
	if err := e.roomForBatch(o); err != nil {
		return nil, err
	}
	b, err := e.newBatch(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// roomForBatch counts what a batch takes, by making one on a device where nothing is made.
func (e *Engine) roomForBatch(o engine.BatchOptions) error {
	device := e.device.Rehearse()
	rehearsed := e.on(e.kit.On(device))
	rehearsed.adapters = e.adapters
	b, err := rehearsed.newBatch(o)
	if err != nil {
		return err
	}
	var wanted, used int64
	for _, n := range device.Memory() {
		wanted += n
	}
	cache := device.Memory()[wgslkit.Cache]
	b.Close()
	for _, n := range e.device.Memory() {
		used += n
	}
	if budget := e.device.Budget(); budget > 0 && used+wanted > budget {
		return fmt.Errorf("%w: %d texts of %d tokens take %s (caches %s), and %s of the %s allowed are in use; "+
			"take fewer streams or a smaller context", engine.ErrDoesNotFit, o.Slots, o.Context,
			engine.FormatBytes(wanted), engine.FormatBytes(cache), engine.FormatBytes(used), engine.FormatBytes(budget))
	}
	return nil
}

// on is an engine with e's weights on a kit whose device rehearses.
func (e *Engine) on(kit *ops.Kit) *Engine {
	return &Engine{device: kit.Device(), kit: kit, model: e.model, cache: e.cache, plan: e.plan, weights: e.weights}
}

// RehearseBatch records on a kit whose device rehearses all that a batch takes, with what it
// records on first use, as Rehearse does for a session.
func (e *Engine) RehearseBatch(ctx context.Context, kit *ops.Kit, o engine.BatchOptions,
	adapters []adapter.Weighted) error {
	rehearsed := e.on(kit)
	made, err := rehearsed.makeAdapters(ctx, adapters)
	if err != nil {
		return err
	}
	defer made.release()
	rehearsed.adapters = made
	b, err := rehearsed.newBatch(o)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.addMasks(); err != nil {
		return err
	}
	_, err = b.mediaProgram()
	return err
}

func (e *Engine) newBatch(o engine.BatchOptions) (*batch, error) {
	b := &batch{engine: e, sizing: e.sizing(o.Context), options: o, slots: make([]batchSlot, o.Slots)}
	if o.Piece > 0 {
		b.sizing = b.sizing.inChunks(o.Piece)
	}
	for i := range b.slots {
		b.slots[i].seat = noSeat
	}
	err := b.build()
	if errors.Is(err, wgslkit.ErrOutOfMemory) || errors.Is(err, wgslkit.ErrLimit) {
		err = fmt.Errorf("%w: %d texts of %d tokens; take fewer streams or a smaller context: %w", engine.ErrDoesNotFit,
			o.Slots, o.Context, err)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *batch) build() (err error) {
	e, c := b.engine, b.engine.model.Config
	width := b.width()
	b.sizing.streams = b.options.Slots
	if b.caches, err = e.newCaches(b.sizing); err != nil {
		return err
	}
	if b.words, err = e.device.NewBuffer("state", wgslkit.Activations,
		int64(4*ops.StateWordsOf(width))); err != nil {
		return err
	}
	if b.wide, err = newActivations(e.kit, c, b.sizing.chunk, 0); err != nil {
		return err
	}
	if b.single, err = newActivations(e.kit, c, 1, 0); err != nil {
		return err
	}
	if b.rows, err = newActivations(e.kit, c, width, width); err != nil {
		return err
	}
	if err := b.newMoved(); err != nil {
		return err
	}
	if err := b.newSeats(); err != nil {
		return err
	}
	b.adapters = e.adapters
	return b.record()
}

// width is that of the widest pass: the power of two that holds all streams.
func (b *batch) width() int {
	width := 1
	for width < b.options.Streams {
		width *= 2
	}
	return width
}

// passWidths are the widths of passes up to the widest: those from which on products and
// attention go another way. Each has kernels of its own, which have to be compiled.
func passWidths(widest int) []int {
	var widths []int
	for _, w := range []int{1, ops.FewestTokens, ops.TokensOfGroup, ops.MostFewTokens} {
		if w < widest {
			widths = append(widths, w)
		}
	}
	return append(widths, widest)
}

// passFor is the narrowest pass over n rows.
func (b *batch) passFor(n int) *ops.Recording {
	for i, width := range b.widths {
		if width >= n {
			return b.passes[i]
		}
	}
	return nil // there are no more seats
}

// newMoved makes the buffer that a head of a text passes through.
func (b *batch) newMoved() (err error) {
	var most int64
	for _, c := range b.caches {
		_, size := c.Stream(0, 0)
		most = max(most, size)
	}
	b.moved, err = b.engine.device.NewBuffer("text on its way", wgslkit.Staging, most)
	return err
}

func (b *batch) recorder() *recorder {
	e := b.engine
	return &recorder{
		kit: e.kit, config: e.model.Config, weights: e.weights, caches: b.caches, state: b.words, wide: b.wide,
		single: b.single, adapters: b.adapters,
	}
}

// record records the programs, with the adapters in use.
func (b *batch) record() (err error) {
	for _, act := range []*activations{b.wide, b.single, b.rows} {
		if err := act.setAdapted(b.engine.kit, b.adapters); err != nil {
			return err
		}
	}
	if b.lower, err = b.recorder().lower(); err != nil {
		return err
	}
	b.widths = passWidths(b.width())
	for _, width := range b.widths {
		pass, err := b.recorder().pass(b.rows, width)
		if err != nil {
			return err
		}
		b.passes = append(b.passes, pass)
	}
	return nil
}

// recordChoices records the choices of several seats as one program: a submission for each
// seat takes longer than the choice.
func (b *batch) recordChoices() error {
	for width := 1; width <= b.width(); width *= 2 {
		r := b.engine.kit.Record("choose", 1, b.seats[0].words)
		for i := range min(width, len(b.seats)) {
			r.Window(0, 1, b.seats[i].words, func() { b.choose(r, i, false) })
		}
		for i := range min(width, len(b.seats)) { // a copy between dispatches would part them
			b.bring(r, i)
		}
		choices, err := r.Finish()
		if err != nil {
			return err
		}
		b.choices = append(b.choices, choices)
	}
	return nil
}

// pass records all layers and the logits for up to so many tokens, each of another text.
func (r *recorder) pass(act *activations, width int) (*ops.Recording, error) {
	g := r.graph(fmt.Sprintf("pass over %d texts", width), act)
	g.Recorder, g.rows = r.kit.Record("pass", width, r.state), true
	g.embed()
	for i := range r.config.Blocks {
		g.layer(i)
	}
	g.head()
	return g.Finish()
}

func (b *batch) Piece() int { return b.sizing.chunk }

func (b *batch) Refresh() (bool, error) {
	if b.adapters == b.engine.adapters {
		return false, nil
	}
	b.discardPending()
	b.releasePrograms()
	b.adapters = b.engine.adapters
	for i := range b.slots {
		b.Rewind(i, 0)
	}
	return true, b.record()
}

func (b *batch) Len(slot int) int { return b.slots[slot].cached }

func (b *batch) Rewind(slot, n int) int {
	s := &b.slots[slot]
	if n >= s.cached {
		return s.cached
	}
	if !b.reaches(slot, n) {
		n = 0
	}
	s.cached = n
	if n == 0 {
		s.written = 0
	}
	return n
}

// reaches says whether the sliding layers' rings still hold what position n sees.
func (b *batch) reaches(slot, n int) bool {
	c := b.engine.model.Config
	for i := range c.Blocks {
		if c.HasOwnKV(i) && c.IsSliding(i) &&
			max(0, n-c.SlidingWindow+1) < b.slots[slot].written-b.sizing.slots(c, i) {
			return false
		}
	}
	return true
}

func (b *batch) Copy(to, from, n int) (int, error) {
	source, target := &b.slots[from], &b.slots[to]
	if n = min(n, source.cached); n == 0 || !b.reaches(from, n) {
		return 0, nil
	}
	p := b.engine.device.NewProgram("copy of a text")
	seen := map[*ops.KVCache]bool{}
	for _, c := range b.caches {
		if seen[c] {
			continue
		}
		seen[c] = true
		for _, part := range c.Parts {
			for _, buffer := range []*wgslkit.Buffer{part.Keys, part.Values} {
				for head := range part.Heads {
					at, size := c.Stream(head, from)
					into, _ := c.Stream(head, to)
					p.Copy(buffer, b.moved, at, 0, size) // not within one buffer
					p.Copy(b.moved, buffer, 0, into, size)
				}
			}
		}
	}
	if err := p.Finish(); err != nil {
		return 0, err
	}
	defer p.Release()
	if err := p.Submit(1); err != nil {
		return 0, err
	}
	target.cached, target.written = n, source.written
	return n, b.engine.device.Wait()
}

// at tells the programs of one text where its next tokens stand.
func (b *batch) at(slot, width int) error {
	var raw [4 * ops.StateRows]byte
	binary.LittleEndian.PutUint32(raw[4*ops.StatePosition:], uint32(b.slots[slot].cached))
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(width))
	binary.LittleEndian.PutUint32(raw[4*ops.StateStream:], uint32(slot))
	binary.LittleEndian.PutUint32(raw[4*ops.StateStreams:], uint32(len(b.slots)))
	return b.words.Write(0, raw[:])
}

func (b *batch) Prefill(ctx context.Context, slot int, p engine.Piece) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lower, tokens := b.lower, p.Tokens
	if len(p.Soft) > 0 {
		var err error
		if lower, err = b.mediaProgram(); err != nil {
			return err
		}
		tokens = padded(&p)
		if err := b.wide.soft.write(&p); err != nil {
			return err
		}
	}
	if err := b.wide.tokens.Write(0, words(tokens)); err != nil {
		return err
	}
	if err := b.engine.feedRows(b.wide, tokens); err != nil {
		return err
	}
	if err := b.at(slot, len(tokens)); err != nil {
		return err
	}
	if err := lower.Submit(len(tokens)); err != nil {
		return err
	}
	b.advance(slot, len(tokens))
	return b.engine.device.Wait()
}

func (b *batch) advance(slot, n int) {
	s := &b.slots[slot]
	s.cached += n
	s.written = max(s.written, s.cached)
}

// mediaProgram is lower for text with soft tokens, recorded with the first ones.
func (b *batch) mediaProgram() (_ *ops.Recording, err error) {
	if b.lowerMedia == nil {
		if err := b.wide.addSoft(b.engine.kit, b.engine.model.Config); err != nil {
			return nil, err
		}
		b.lowerMedia, err = b.recorder().lowerMedia()
	}
	return b.lowerMedia, err
}

func (b *batch) Start(slot int, params sample.Params, history []int32, masks engine.Masks) error {
	if masks != nil {
		if err := b.addMasks(); err != nil {
			return err
		}
	}
	b.Stop(slot)
	s := &b.slots[slot]
	s.started, s.params, s.masks = true, params, masks
	if len(params.OnHost()) > 0 {
		var err error
		if s.host, err = sample.New(b.engine.model.Config.Vocab, params); err != nil {
			return err
		}
		s.host.SetBreakers(s.breakers)
		if b.logits == nil {
			b.logits = make([]float32, b.engine.model.Config.Vocab)
		}
	}
	// No step makes room for its token.
	s.history = append(make([]int32, 0, b.sizing.context+1), history...)
	return nil
}

func (b *batch) Stop(slot int) {
	b.unseat(slot)
	s := &b.slots[slot]
	s.started, s.history, s.masks, s.host = false, nil, nil, nil
}

func (b *batch) SetBreakers(slot int, breakers sample.Breakers) { b.slots[slot].breakers = breakers }

func (b *batch) Force(ctx context.Context, slot int, tokens []int32) error {
	s := &b.slots[slot]
	run := slices.Concat(s.history[len(s.history)-1:], tokens[:len(tokens)-1])
	for from := 0; from < len(run); from += b.sizing.chunk {
		part := run[from:min(from+b.sizing.chunk, len(run))]
		if err := b.Prefill(ctx, slot, engine.Piece{Tokens: part}); err != nil {
			return err
		}
	}
	s.history = append(s.history, tokens...)
	b.unseat(slot) // its sampler has not seen them
	return nil
}

func (b *batch) releasePrograms() {
	b.lower.Release()
	b.lowerMedia.Release()
	for _, p := range b.passes {
		p.Release()
	}
	b.lower, b.lowerMedia, b.passes = nil, nil, nil
}

func (b *batch) Close() {
	b.discardPending()
	b.releasePrograms()
	for _, p := range b.choices {
		p.Release()
	}
	for i := len(b.seats) - 1; i >= 0; i-- { // the first one's memory is the others', too
		b.seats[i].release()
	}
	for _, buffer := range []*wgslkit.Buffer{b.words, b.results, b.moved} {
		buffer.Release()
	}
	for _, act := range []*activations{b.wide, b.single, b.rows} {
		act.release()
	}
	releaseCaches(b.caches)
}
