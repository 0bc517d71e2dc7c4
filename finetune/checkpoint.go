package finetune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// checkpointVersion is raised when what a checkpoint holds changes its meaning.
const checkpointVersion = 2

// state is what a checkpoint holds beside matrices.
type state struct {
	Version  int     `json:"version"`
	Model    string  `json:"model"` // its fingerprint
	Config   Config  `json:"config"`
	Done     int     `json:"done"`
	Steps    int     `json:"optimizerSteps"`
	Best     float64 `json:"best,omitempty"` // absent before the first look
	Worse    int     `json:"worse"`
	Stopped  bool    `json:"stopped"`
	Examples string  `json:"examples"` // a digest of what is trained on
}

// stateKey is where a checkpoint's metadata has the state.
const stateKey = "gemwire.training"

// WriteCheckpoint writes all that a run needs to go on: a safetensors file with
// the adapter and what the optimizer remembers.
func (t *Trainer) WriteCheckpoint(ctx context.Context, w io.Writer) error {
	pairs, moments, err := t.engine.read(ctx)
	if err != nil {
		return err
	}
	fingerprint, err := t.base.Fingerprint()
	if err != nil {
		return err
	}
	s := state{
		Version: checkpointVersion, Model: fingerprint, Config: t.config, Done: t.done, Steps: moments.Steps,
		Worse: t.worse, Stopped: t.stopped, Examples: digest(t.data.Train),
	}
	if !math.IsInf(t.best, 0) {
		s.Best = t.best
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var tensors []safetensors.Values
	for _, group := range groups(pairs, moments) {
		for i, p := range group.pairs {
			name := group.name + "." + t.tape.Slots[i].String()
			tensors = append(tensors,
				safetensors.Values{Name: name + ".A", Shape: []int{p.Rank, p.In}, Values: p.A},
				safetensors.Values{Name: name + ".B", Shape: []int{p.Out, p.Rank}, Values: p.B})
		}
	}
	tensors = append(tensors, rehearsedTensors(t.data.Rehearsed)...)
	return safetensors.WriteChecked(w, map[string]string{stateKey: string(data)}, tensors)
}

type group struct {
	name  string
	pairs []*adapter.Pair
}

func groups(pairs []*adapter.Pair, moments *optimizer.State) []group {
	return []group{{"adapter", pairs}, {"first", moments.First}, {"second", moments.Second}}
}

// digest tells sets of examples apart.
func digest(examples []dataset.Example) string {
	h := sha256.New()
	for i := range examples {
		e := &examples[i]
		binary.Write(h, binary.LittleEndian, int64(len(e.Tokens)))
		for j, t := range e.Tokens {
			binary.Write(h, binary.LittleEndian, [2]int32{t.ID, e.Targets[j]})
		}
		for _, m := range e.Media {
			io.WriteString(h, strconv.Quote(m.Key))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Resume prepares the rest of a run from its checkpoint. The model and the
// examples have to be those of the run; what the model is held to is in there.
func Resume(ctx context.Context, model *gemma4.Model, data Data, r io.ReaderAt, size int64) (*Trainer, error) {
	file, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if _, err := file.Verify(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	s, err := readState(file)
	if err != nil {
		return nil, err
	}
	fingerprint, err := model.Fingerprint()
	if err != nil {
		return nil, err
	}
	if s.Model != fingerprint {
		return nil, fmt.Errorf("%w: the run was with another model, or with other weights of it; open the one it "+
			"began with", ErrCheckpoint)
	}
	if s.Examples != digest(data.Train) {
		return nil, fmt.Errorf("%w: the run was over other examples; give it the same file, with the same template "+
			"and length, or begin a new run", ErrCheckpoint)
	}
	if data.Rehearsed, err = readRehearsed(file); err != nil {
		return nil, err
	}
	t := &Trainer{config: s.Config, data: data, done: s.Done, best: math.Inf(1), worse: s.Worse, stopped: s.Stopped}
	if s.Best != 0 {
		t.best = s.Best
	}
	if err := t.prepare(ctx, model); err != nil {
		return nil, err
	}
	if most := t.config.Schedule.Steps; t.done > most {
		return nil, errors.Join(fmt.Errorf("%w: it has made %d of %d steps", ErrCheckpoint, t.done, most), t.Close())
	}
	if err := t.restore(ctx, file, s); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func readState(file *safetensors.File) (*state, error) {
	s := new(state)
	if err := json.Unmarshal([]byte(file.Metadata[stateKey]), s); err != nil {
		return nil, fmt.Errorf("%w: its settings cannot be read: %v", ErrCheckpoint, err)
	}
	if s.Version != checkpointVersion {
		return nil, fmt.Errorf("%w: it is of version %d, this program reads %d", ErrCheckpoint, s.Version,
			checkpointVersion)
	}
	if s.Config.Optimizer == nil || s.Done < 0 || s.Steps < 0 {
		return nil, fmt.Errorf("%w: its settings are incomplete", ErrCheckpoint)
	}
	if most := s.Config.Schedule.Steps; s.Done > most || s.Steps > most {
		return nil, fmt.Errorf("%w: it has made %d of %d steps", ErrCheckpoint, max(s.Done, s.Steps), most)
	}
	return s, nil
}

func (t *Trainer) restore(ctx context.Context, file *safetensors.File, s *state) error {
	pairs := t.firstPairs()
	moments := optimizer.NewState(pairs)
	moments.Steps = s.Steps
	for _, group := range groups(pairs, moments) {
		for i, p := range group.pairs {
			name := group.name + "." + t.tape.Slots[i].String()
			if err := readInto(file, name+".A", []int{p.Rank, p.In}, p.A); err != nil {
				return err
			}
			if err := readInto(file, name+".B", []int{p.Out, p.Rank}, p.B); err != nil {
				return err
			}
		}
	}
	return t.engine.write(ctx, pairs, moments)
}

func readInto(file *safetensors.File, name string, shape []int, values []float32) error {
	tensor, ok := file.Tensor(name)
	if !ok {
		return fmt.Errorf("%w: %s is missing; the run was with another model", ErrCheckpoint, name)
	}
	if !slices.Equal(tensor.Shape, shape) {
		return fmt.Errorf("%w: %s is %v, wanted %v; the run was with another model", ErrCheckpoint, name, tensor.Shape,
			shape)
	}
	if err := tensor.ReadFloats(values, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return nil
}
