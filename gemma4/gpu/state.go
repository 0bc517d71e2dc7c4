package gpu

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// state is a session's caches and programs on the GPU.
type state struct {
	engine   *Engine
	sizing   sizing
	caches   []*ops.KVCache
	words    *wgslkit.Buffer // the state words that programs read
	sampler  *ops.Sampler
	wide     *activations
	single   *activations
	rows     *activations // of programs.every
	programs *programs
	// checkpoints are copies of the rings, to go back to.
	checkpoints *checkpoints
	adapters    *adapterWeights // that the programs were recorded with

	cached  int // positions computed
	written int // the most positions since the caches were last empty: what sliding rings have overwritten

	// While choosing:
	position int               // of the next token to submit
	limit    int               // position that must not be submitted
	inFlight []*ops.SampleRead // choices under way, oldest first
	rowByRow bool              // the host fetches rows: no pipelining
	last     int32             // the token chosen last
	chosen   int               // tokens handed out
	draining bool              // begin no step while one is under way
	deepest  int               // the most steps that may be under way
	chosenAt time.Time         // when the last token came
	quick    bool              // it came within a shortStep of the one before
	masked   masked
	hosted   hosted

	drafted    int       // tokens of a draft, at most
	verifier   *verifier // nil until a draft comes
	unverified bool      // there is no room for one

	drafter    *drafter // nil until an assistant is asked
	unassisted bool     // there is no room for one
	// stream is what the last program of one token left, from which the last token
	// was chosen; or where streamRow is not negative, it is that row of the verifier's.
	stream    *wgslkit.Buffer
	streamRow int
}

// How many steps are in flight behind the token that was read last. With two, the host has one
// step's time to take a token in and to submit another, or the GPU waits for it. Where
// tokens come within shortStep of each other, a pause of the host may be longer than that,
// such as JavaScript's for its garbage: so a third is under way. At an answer's end it has
// been for nothing, which a software rasterizer, being the host itself, would pay for.
const (
	usualDepth = 2
	maxDepth   = 3
	shortStep  = 5 * time.Millisecond
)

func (s *state) build() (err error) {
	e, c := s.engine, s.engine.model.Config
	if s.caches, err = e.newCaches(s.sizing); err != nil {
		return err
	}
	if s.checkpoints, err = e.newCheckpoints(s.sizing, s.caches); err != nil {
		return err
	}
	if s.words, err = e.device.NewBuffer("state", wgslkit.Activations, 4*ops.StateWords); err != nil {
		return err
	}
	s.sampler, err = e.kit.NewSampler(ops.SamplerOptions{
		Vocab: c.Vocab, History: s.sizing.context, MaxLogProbs: ops.MaxLogProbs,
	})
	if err != nil {
		return err
	}
	if s.wide, err = newActivations(e.kit, c, s.sizing.chunk, 0); err != nil {
		return err
	}
	if s.single, err = newActivations(e.kit, c, 1, 1); err != nil {
		return err
	}
	s.rowByRow, s.deepest = e.plan.Rows > 0, maxDepth
	if e.device.Info().Kind == wgslkit.CPU {
		s.deepest = usualDepth
	}
	return s.adapt()
}

func (s *state) recorder() *recorder {
	e := s.engine
	return &recorder{
		kit: e.kit, config: e.model.Config, weights: e.weights, caches: s.caches,
		state: s.words, sampler: s.sampler, wide: s.wide, single: s.single, adapters: s.adapters,
	}
}

func (s *state) Len() int { return s.cached }

// Rewind goes back where the sliding layers' rings still hold what position n sees, and
// otherwise to the checkpoint nearest before it.
func (s *state) Rewind(n int) int {
	if c := s.engine.model.Config; s.slides() && max(0, n-c.SlidingWindow+1) < s.oldest() {
		n, s.written = s.checkpoints.back(n)
	}
	s.cached = n
	if n == 0 {
		s.written = 0
	}
	s.checkpoints.cut(n)
	return n
}

// slides says whether there are rings.
func (s *state) slides() bool {
	c := s.engine.model.Config
	for i := range c.Blocks {
		if c.HasOwnKV(i) && c.IsSliding(i) {
			return true
		}
	}
	return false
}

// at tells the programs where their first token stands and how many there are.
func (s *state) at(position, width int) error {
	var raw [4 * ops.StateWords]byte
	binary.LittleEndian.PutUint32(raw[4*ops.StatePosition:], uint32(position))
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(width))
	return s.words.Write(0, raw[:])
}

func (s *state) Prefill(ctx context.Context, p engine.Piece, report func(done int)) error {
	if err := s.adapt(); err != nil {
		return err
	}
	if err := s.widen(p.LongestMutual()); err != nil {
		return err
	}
	if err := s.beginText(len(p.Tokens)); err != nil {
		return err
	}
	if err := s.prefill(ctx, p, report); err != nil {
		return err
	}
	return s.checkpoint(true)
}

// prefill computes a piece of text up to its last token's logits.
func (s *state) prefill(ctx context.Context, p engine.Piece, report func(done int)) error {
	for done := 0; done < len(p.Tokens); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := p.Cut(done, s.sizing.chunk)
		if err := s.prefillChunk(p.Slice(done, end)); err != nil {
			return err
		}
		done = end
		report(done)
		if err := s.checkpoint(false); err != nil {
			return err
		}
	}
	if err := s.at(s.cached-1, 1); err != nil {
		return err
	}
	s.stream, s.streamRow = s.programs.upperStream, -1
	return s.programs.upper.Submit(1)
}

func (s *state) prefillChunk(p engine.Piece) error {
	lower, err := s.lowerFor(&p)
	if err != nil {
		return err
	}
	if err := s.feed(s.wide, p); err != nil {
		return err
	}
	if err := lower.Submit(len(p.Tokens)); err != nil {
		return err
	}
	if err := s.engine.device.Wait(); err != nil {
		return err
	}
	s.advance(len(p.Tokens))
	return nil
}

func (s *state) advance(n int) {
	s.cached += n
	s.written = max(s.written, s.cached)
}

// feed writes the next tokens, the vectors of soft ones, and the rows that the
// host fetches for them.
func (s *state) feed(act *activations, p engine.Piece) error {
	tokens := p.Tokens
	if len(p.Soft) > 0 {
		tokens = padded(&p)
		if err := act.soft.write(&p); err != nil {
			return err
		}
	}
	if err := act.tokens.Write(0, words(tokens)); err != nil {
		return err
	}
	if err := s.feedRows(act, tokens); err != nil {
		return err
	}
	return s.at(s.cached, len(tokens))
}

// words is values as a buffer of u32 takes them.
func words[T int32 | uint32](values []T) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
	}
	return raw
}

func (s *state) Start(p sample.Params, history []int32, limit int, masks engine.Masks) error {
	if err := s.startMasked(masks); err != nil {
		return err
	}
	if err := s.startHosted(p, history); err != nil {
		return err
	}
	if err := s.sampler.SetHistory(history, 0); err != nil {
		return err
	}
	if !s.hosted.on() {
		if err := s.sampler.Configure(p); err != nil {
			return err
		}
	}
	s.position, s.limit, s.chosen, s.draining = len(history), len(history)+limit, 0, false
	s.chosenAt, s.quick = time.Time{}, false
	if masks != nil || s.hosted.on() {
		return nil // the first choice waits for its mask
	}
	return s.submit(s.programs.choose)
}

// submit runs a program that ends in a choice, and begins to read it.
func (s *state) submit(p *ops.Recording) error {
	read, err := s.sampler.SubmitRead(p, s.position)
	if err != nil {
		return err
	}
	s.inFlight = append(s.inFlight, read)
	s.position++
	if p == s.programs.decode {
		s.stream, s.streamRow = s.programs.decodeStream, -1
	}
	return nil
}

// next keeps the GPU busy with the steps after the one whose token it waits for.
func (s *state) Next(ctx context.Context) (sample.Choice, error) {
	if s.hosted.on() {
		return s.nextHosted(ctx)
	}
	if s.masked.masks != nil {
		return s.nextMasked(ctx)
	}
	if err := s.fillPipeline(); err != nil {
		return sample.Choice{}, err
	}
	if err := ctx.Err(); err != nil {
		return sample.Choice{}, err
	}
	read := s.inFlight[0]
	s.inFlight = append(s.inFlight[:0], s.inFlight[1:]...)
	choice, err := choiceOf(read)
	if err != nil {
		return sample.Choice{}, err
	}
	s.last = choice.Token
	now := time.Now()
	s.chosenAt, s.quick = now, now.Sub(s.chosenAt) < shortStep
	s.chosen++
	if s.chosen > 1 {
		s.advance(1) // the token before this one is in the cache now
		err = s.checkpoint(false)
	}
	return choice, err
}

// depth is how many steps may be under way, the one included whose token is waited for.
func (s *state) depth() int {
	if s.quick {
		return s.deepest
	}
	return usualDepth
}

func (s *state) fillPipeline() error {
	if s.rowByRow {
		if len(s.inFlight) > 0 {
			return nil
		}
		if err := s.feedRows(s.single, []int32{s.last}); err != nil {
			return err
		}
		return s.submit(s.programs.decode)
	}
	for most := s.depth(); len(s.inFlight) < most && s.position < s.limit && !(s.draining && len(s.inFlight) > 0); {
		if err := s.submit(s.programs.decode); err != nil {
			return err
		}
	}
	return nil
}

// stop drops the steps under way. They have written keys at positions that are
// not counted; a later prefill writes over them.
func (s *state) Stop(n int) {
	s.written, s.position = max(s.written, s.position), 0
	for _, read := range s.inFlight {
		read.Discard()
	}
	s.inFlight, s.masked.masks = s.inFlight[:0], nil
	s.hosted.sampler = nil
	if s.cached > n {
		s.Rewind(n)
	}
}

// feedRows fetches the rows of tables that are not on the GPU.
func (s *state) feedRows(act *activations, tokens []int32) error {
	return s.engine.feedRows(act, tokens)
}

func (e *Engine) feedRows(act *activations, tokens []int32) error {
	if e.plan.Rows == 0 {
		return nil
	}
	m, w := e.model, e.weights
	if w.tokenEmbd == nil {
		rows, err := lookUp(m.TokenEmbd, tokens, m.Config.EmbedScale())
		if err != nil {
			return err
		}
		if err := act.x.Write(0, rows); err != nil {
			return err
		}
	}
	if m.PerLayerTokenEmbd != nil && w.perLayerTokenEmbd == nil {
		rows, err := lookUp(m.PerLayerTokenEmbd, tokens, m.Config.PerLayerScale())
		if err != nil {
			return err
		}
		return act.perLayerRows.Write(0, rows)
	}
	return nil
}

func (s *state) Close() {
	if s.inFlight != nil {
		s.Stop(s.cached)
	}
	s.programs.release()
	s.verifier.release()
	s.drafter.release()
	s.sampler.Release()
	s.words.Release()
	s.wide.release()
	s.single.release()
	s.rows.release()
	s.checkpoints.release()
	releaseCaches(s.caches)
}
