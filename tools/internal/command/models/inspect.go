package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	towers "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

func NewInspect(env *cli.Environment) *cobra.Command {
	var model cli.ModelFlags
	var lora flagset.LoRA
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:   "inspect [MODEL]",
		Short: "Show what is in a model file",
		Long: `Show a GGUF file's metadata, its tensors, their sizes by type, and where each would
go on this machine's GPU. Only the header is read. Any model's file works;
the GPU plan is only for Gemma 4 and Gemma 3. With --lora, it includes adapters.`,
		Example: cli.Examples(
			`gemwire inspect`,
			`gemwire inspect gemma4:e2b`,
			`gemwire inspect gemma4:e2b --context 32768 --gpu-memory 6GB`,
			`gemwire inspect gemma4:e2b --gpu-memory 6GB --lora my-adapter`,
			`gemwire inspect ./model.gguf --json | jq .plan`,
			`gemwire inspect ./model.gguf --json --full | jq '.metadata[] | select(.key == "tokenizer.ggml.tokens")'`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, err := model.OneModel(list)
			if err != nil {
				return err
			}
			if err := errors.Join(model.Check(), lora.Check()); err != nil {
				return err
			}
			adapters, err := lora.Open(cmd.Context())
			if err != nil {
				return err
			}
			file, err := model.OpenFile(cmd.Context(), env, name)
			if err != nil {
				return err
			}
			defer file.Close()
			own, err := model.OwnAdapters(cmd.Context())
			if err != nil {
				return err
			}
			adapters = append(own, adapters...)
			in := &inspection{file: file}
			in.towers, in.brokenTowers = towers.Open(file, 0)
			if err := in.makePlan(cmd.Context(), &model, adapters); err != nil {
				return err
			}
			if asJSON {
				return env.PrintJSON(in.json(full))
			}
			return in.print(env.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&full, "full", false, "with --json, give long lists in the metadata in full")
	model.Register(cmd.Flags())
	lora.Register(cmd.Flags())
	return cmd
}

// inspection is what there is to tell of a file.
type inspection struct {
	file   *gguf.File
	plan   *gemma4.Plan // nil where there is none
	noPlan error        // why there is none, or why it does not work

	towers       *towers.Towers // nil where they are broken
	brokenTowers error
}

// makePlan plans for the GPU. Only a mistake in the flags is an error: that a
// file or a machine has no plan is something to show.
func (in *inspection) makePlan(ctx context.Context, flags *cli.ModelFlags, adapters []adapter.Weighted) error {
	if gemma4.Device(flags.Device) == gemma4.DeviceCPU {
		in.noPlan = errors.New("on the CPU there is nothing to plan")
		return ctx.Err()
	}
	in.plan, in.noPlan = gemma4.PlanFor(in.file,
		gemma4.OpenOptions{GPU: flags.GPU(), Context: flags.Context, KVCache: gemma4.CacheType(flags.KVCache)},
		adapters...)
	switch {
	case in.noPlan == nil, errors.Is(in.noPlan, gemma4.ErrDoesNotFit):
	case errors.Is(in.noPlan, adapter.ErrTarget), errors.Is(in.noPlan, adapter.ErrFormat):
		return in.noPlan
	case errors.Is(in.noPlan, arch.ErrArchitecture):
		in.noPlan = fmt.Errorf("only for Gemma 4 and Gemma 3, and this is %s",
			flagset.Printable(orUnknown(in.file.Architecture())))
	default:
		in.plan = nil
	}
	return ctx.Err()
}

func orUnknown(architecture string) string {
	if architecture == "" {
		return "a file without an architecture"
	}
	return architecture
}

// typeTotal is what the tensors of one type are together.
type typeTotal struct {
	Type    string `json:"type"`
	Tensors int    `json:"tensors"`
	Values  int64  `json:"values"`
	Bytes   int64  `json:"bytes"`
}

// types sums the tensors by type, in the order in which types first appear.
func (in *inspection) types() []typeTotal {
	totals := []typeTotal{}
	index := map[string]int{}
	for _, t := range in.file.Tensors {
		name := t.Type.String()
		i, ok := index[name]
		if !ok {
			i = len(totals)
			index[name] = i
			totals = append(totals, typeTotal{Type: name})
		}
		totals[i].Tensors++
		totals[i].Values += int64(t.Elements())
		totals[i].Bytes += t.Size
	}
	return totals
}

// places says where each tensor would live, by name.
func (in *inspection) places() map[string]gemma4.PlanEntry {
	places := map[string]gemma4.PlanEntry{}
	if in.plan != nil {
		for _, e := range in.plan.Entries {
			places[e.Name] = e
		}
	}
	return places
}
