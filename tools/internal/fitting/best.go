package fitting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/hub"
	"github.com/gemwire/gemwire/tools/internal/machine"
	"github.com/gemwire/gemwire/wgslkit"
)

// ErrTooLarge: not even the smallest fits.
var ErrTooLarge = errors.New("no quantization fits")

// Chooser chooses for a machine.
type Chooser struct {
	Client hub.Client
	// Budget is how much memory there is for the model; 0 is what the machine has.
	Budget int64
	// GPUs and Memory say what the machine has; nil asks it.
	GPUs   func(context.Context) []machine.GPU
	Memory func() int64
	// Say hears what was chosen, and why.
	Say func(text string)
	// Fits says whether a model fits into so many bytes; nil plans from the header of its file.
	Fits func(ctx context.Context, n hub.Name, m hub.Model, budget int64) (bool, error)
}

// usable is the share of a card's memory that a model may take: the rest is the screen's and the driver's.
const usable = 0.9

// context is for how many tokens there is to be room.
const contextTokens = gemma4.DefaultContext

// Best chooses: with the memory of a GPU known, the best quantization that fits it, up to Q8_0, above which nothing is
// gained; otherwise Q4_K_M, as llama.cpp does, or what is nearest, in at most the main memory.
func (c Chooser) Best(ctx context.Context, n hub.Name, models []hub.Model) (hub.Model, error) {
	if !hub.OneFamily(models) {
		return hub.Model{}, fmt.Errorf("%s: %w: %s; name the file, as %s/FILE.gguf", n.Repository(), hub.ErrSeveral,
			hub.FileNames(models), n.Repository())
	}
	if len(models) == 1 {
		return models[0], nil
	}
	budget, what := c.memory(ctx)
	ranked := hub.Ranked(models)
	if budget == 0 {
		return c.usual(ranked)
	}
	for _, m := range ranked {
		fits, err := c.fits(ctx, n, m, budget)
		if err != nil {
			return hub.Model{}, err
		}
		if fits {
			c.Say(fmt.Sprintf("%s is the best that fits %s", label(m), what))
			return m, nil
		}
	}
	smallest := smallestOf(ranked)
	return hub.Model{}, fmt.Errorf("%s: %w %s: the smallest, %s, has %s; for the CPU's memory name one, as %s:%s",
		n.Repository(), ErrTooLarge, what, label(smallest), humanize.Bytes(uint64(smallest.Size())), n.Repository(),
		label(smallest))
}

// usual is llama.cpp's choice, or a smaller one where the main memory is too small for that.
func (c Chooser) usual(ranked []hub.Model) (hub.Model, error) {
	memory := c.mainMemory()
	at := slices.IndexFunc(ranked, func(m hub.Model) bool { return m.Quant == "Q4_K_M" })
	if at < 0 {
		at = hub.Nearest(ranked, "Q4_K_M")
	}
	for _, m := range ranked[at:] {
		if memory == 0 || m.Size() <= memory/10*8 {
			why := "the usual choice where the memory of a GPU is not known"
			if m.Quant != ranked[at].Quant {
				why = fmt.Sprintf("the best that fits the %s of main memory", humanize.IBytes(uint64(memory)))
			}
			c.Say(fmt.Sprintf("%s is %s", label(m), why))
			return m, nil
		}
	}
	m := smallestOf(ranked)
	c.Say(fmt.Sprintf("%s is the smallest; it has %s, and the main memory %s", label(m), humanize.Bytes(uint64(m.Size())),
		humanize.IBytes(uint64(memory))))
	return m, nil
}

func smallestOf(models []hub.Model) hub.Model {
	return slices.MinFunc(models, func(a, b hub.Model) int { return cmp.Compare(a.Size(), b.Size()) })
}

func label(m hub.Model) string {
	if m.Quant == "" {
		return m.Parts[0].Path
	}
	return m.Quant
}

// memory is what there is for a model, and how to call it.
func (c Chooser) memory(ctx context.Context) (budget int64, what string) {
	if c.Budget > 0 {
		return c.Budget, "into " + humanize.Bytes(uint64(c.Budget))
	}
	ask := c.GPUs
	if ask == nil {
		ask = machine.GPUs
	}
	cards := ask(ctx)
	if len(cards) == 0 {
		return 0, ""
	}
	return int64(float64(cards[0].Bytes) * usable),
		fmt.Sprintf("the %s of %s", humanize.IBytes(uint64(cards[0].Bytes)), cards[0].Name)
}

func (c Chooser) mainMemory() int64 {
	if c.Memory != nil {
		return c.Memory()
	}
	return machine.Memory()
}

func (c Chooser) fits(ctx context.Context, n hub.Name, m hub.Model, budget int64) (bool, error) {
	if c.Fits != nil {
		return c.Fits(ctx, n, m, budget)
	}
	if m.Size()/4 > budget { // tables can stay in the file, and are never more than three quarters of it
		return false, nil
	}
	fits, err := c.planned(ctx, n, m, budget)
	if err == nil || ctx.Err() != nil || errors.Is(err, hub.ErrAccess) {
		return fits, err
	}
	return m.Size()+m.Size()/10+512<<20 <= budget, nil // no plan without a GPU, or for other architectures
}

// planned reads the header of a model's file and plans its memory.
func (c Chooser) planned(ctx context.Context, n hub.Name, m hub.Model, budget int64) (bool, error) {
	file, err := gguf.OpenRemote(ctx, c.Client.Address(n, m.Parts[0].Path),
		gguf.HTTPOptions{Client: c.Client.HTTP, Header: c.Client.Headers(), Backoff: c.Client.Backoff})
	if err != nil {
		return false, c.Client.Explain(n, err)
	}
	defer file.Close()
	if m.Projector != nil {
		budget -= m.Projector.Size
	}
	if m.Assistant != nil {
		budget -= m.Assistant.Size
	}
	_, err = gemma4.PlanFor(file, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU, Context: contextTokens, GPU: wgslkit.Options{MemoryBudget: max(budget, 1)},
	})
	if errors.Is(err, gemma4.ErrDoesNotFit) || errors.Is(err, wgslkit.ErrLimit) {
		return false, nil
	}
	return err == nil, err
}
