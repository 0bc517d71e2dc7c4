package models

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// print prints all of it for people, the longest lists first.
func (in *inspection) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "GGUF version %d, %s, %s\n\n", in.file.Version, ByteCount(in.file.Size()),
		cli.Counted(len(in.file.Tensors), "tensor"))
	in.printMetadata(w)
	in.printTensors(w)
	in.printTypes(w)
	in.printTowers(w)
	in.printPlan(w)
	return w.Flush()
}

// section begins one: the columns of each stand for themselves.
func section(w *tabwriter.Writer, title string) {
	_ = w.Flush() // an error shows at the last flush again
	fmt.Fprintf(w, "%s\n", title)
}

func (in *inspection) printMetadata(w *tabwriter.Writer) {
	section(w, "METADATA")
	for _, key := range in.file.Meta.Keys() {
		value, _ := in.file.Meta.Lookup(key)
		fmt.Fprintf(w, "%s\t%s\n", flagset.Printable(key), value)
	}
}

func (in *inspection) printTensors(w *tabwriter.Writer) {
	section(w, "\nTENSORS")
	places := in.places()
	for _, t := range in.file.Tensors {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", flagset.Printable(t.Name), t.Type, shape(t.Dims), ByteCount(t.Size),
			place(places, t.Name))
	}
}

// place says where a tensor would live; nothing where it is not in the plan.
func place(places map[string]gemma4.PlanEntry, name string) string {
	e, ok := places[name]
	if !ok {
		return ""
	}
	if e.Tiles > 1 {
		return fmt.Sprintf("%s, in %d tiles", e.Where, e.Tiles)
	}
	return string(e.Where)
}

func (in *inspection) printTypes(w *tabwriter.Writer) {
	section(w, "\nSIZES BY TYPE")
	var all typeTotal
	for _, t := range in.types() {
		printType(w, t)
		all.Tensors += t.Tensors
		all.Values += t.Values
		all.Bytes += t.Bytes
	}
	all.Type = "all"
	printType(w, all)
}

func printType(w io.Writer, t typeTotal) {
	bits := 0.0
	if t.Values > 0 {
		bits = 8 * float64(t.Bytes) / float64(t.Values)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s weights\t%.2f bits each\n", t.Type, cli.Counted(t.Tensors, "tensor"),
		ByteCount(t.Bytes), count(t.Values), bits)
}

// printTowers says what the model sees and hears with.
func (in *inspection) printTowers(w *tabwriter.Writer) {
	if in.brokenTowers == nil && in.towers.Vision == nil && in.towers.Audio == nil {
		return
	}
	section(w, "\nTOWERS")
	if in.brokenTowers != nil {
		fmt.Fprintf(w, "%s\n", cli.Sentence(in.brokenTowers))
		return
	}
	if v := in.towers.Vision; v != nil {
		fmt.Fprintf(w, "images\t%s of %d\t%s, loaded with the first picture\n", cli.Counted(v.Blocks, "block"), v.Width,
			ByteCount(v.Bytes))
	}
	if a := in.towers.Audio; a != nil {
		fmt.Fprintf(w, "audio\t%s of %d\t%s, loaded with the first recording\n", cli.Counted(a.Blocks, "block"), a.Width,
			ByteCount(a.Bytes))
	}
}

func (in *inspection) printPlan(w *tabwriter.Writer) {
	section(w, "\nON THIS GPU")
	if p := in.plan; p != nil {
		fmt.Fprintf(w, "device\t%s%s\n", p.Device, unused(p))
		fmt.Fprintf(w, "context\t%s\n", cli.Counted(p.Context, "token"))
		fmt.Fprintf(w, "weights\t%s\n", ByteCount(p.Weights))
		if p.Rows > 0 {
			fmt.Fprintf(w, "left in the file\t%s, read row by row\n", ByteCount(p.Rows))
		}
		fmt.Fprintf(w, "cache\t%s for a session, in %s\n", ByteCount(p.Cache), p.KVCache)
		if p.Checkpoints > 0 {
			fmt.Fprintf(w, "checkpoints\t%s for a session, to go back in its text\n", ByteCount(p.Checkpoints))
		}
		fmt.Fprintf(w,
			"work\t%s for a session, prompts in chunks of %d tokens\n", ByteCount(p.Activations+p.Drafts), p.Chunk)
		if p.Adapters > 0 {
			fmt.Fprintf(w, "adapters\t%s, with a session's work\n", ByteCount(p.Adapters))
		}
		fmt.Fprintf(w, "together\t%s%s\n", ByteCount(p.Total()), budget(p.Budget))
	}
	if in.noPlan != nil {
		fmt.Fprintf(w, "%s\n", cli.Sentence(in.noPlan))
	}
}

func unused(p *gemma4.Plan) string {
	if p.Unused {
		return ", a software rasterizer: the model runs on the CPU unless --device gpu is given"
	}
	return ""
}

func budget(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" of %s allowed", ByteCount(n))
}

// shape is a tensor's dimensions, rows' length first as ggml has them.
func shape(dims []uint64) string {
	words := make([]string, len(dims))
	for i, d := range dims {
		words[i] = fmt.Sprint(d)
	}
	return "[" + strings.Join(words, " ") + "]"
}

// ByteCount is a size as people read it.
func ByteCount(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// count is a large number as people read it.
func count(n int64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}} {
		if float64(n) >= unit.size {
			return fmt.Sprintf("%.1f%s", float64(n)/unit.size, unit.name)
		}
	}
	return fmt.Sprint(n)
}
