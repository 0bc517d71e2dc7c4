package command

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
)

func newInspect(env *environment) *cobra.Command {
	var model modelFlags
	var lora loraFlags
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:   "inspect [MODEL]",
		Short: "Show what is in a model file",
		Long: `Show a GGUF file's metadata, its tensors, their sizes by type, and where each would
live on this machine's GPU. Only the header is read. The file may be of any model;
the plan for the GPU is made for Gemma 4 alone. With --lora, it counts adapters too.`,
		Example: examples(
			`gemwire inspect`,
			`gemwire inspect gemma4:e2b`,
			`gemwire inspect gemma4:e2b --context 32768 --gpu-memory 6GB`,
			`gemwire inspect gemma4:e2b --gpu-memory 6GB --lora my-adapter`,
			`gemwire inspect ./model.gguf --json | jq .plan`,
			`gemwire inspect ./model.gguf --json --full | jq '.metadata[] | select(.key == "tokenizer.ggml.tokens")'`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			name := model.model
			if len(list) == 1 {
				if name != "" {
					return usagef("two models, %s and %s; name one", list[0], name)
				}
				name = list[0]
			}
			if err := errors.Join(model.check(), lora.check()); err != nil {
				return err
			}
			adapters, err := lora.open(cmd.Context())
			if err != nil {
				return err
			}
			file, err := model.openFile(cmd.Context(), env, name)
			if err != nil {
				return err
			}
			defer file.Close()
			in := &inspection{file: file}
			in.towers, in.brokenTowers = towers.Open(file, 0)
			if err := in.makePlan(cmd.Context(), &model, adapters); err != nil {
				return err
			}
			if asJSON {
				return env.printJSON(in.json(full))
			}
			return in.print(env.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&full, "full", false, "with --json, give long lists in the metadata in full")
	model.register(cmd.Flags())
	lora.register(cmd.Flags())
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
func (in *inspection) makePlan(ctx context.Context, flags *modelFlags, adapters []adapter.Weighted) error {
	if gemma4.Device(flags.device) == gemma4.DeviceCPU {
		in.noPlan = errors.New("on the CPU there is nothing to plan")
		return ctx.Err()
	}
	in.plan, in.noPlan = gemma4.PlanFor(in.file, gemma4.OpenOptions{GPU: flags.gpu(), Context: flags.context, KVCache: gemma4.CacheType(flags.kvCache)}, adapters...)
	switch {
	case in.noPlan == nil, errors.Is(in.noPlan, gemma4.ErrDoesNotFit):
	case errors.Is(in.noPlan, adapter.ErrTarget), errors.Is(in.noPlan, adapter.ErrFormat):
		return in.noPlan
	case errors.Is(in.noPlan, arch.ErrArchitecture):
		in.noPlan = fmt.Errorf("made for Gemma 4 alone, and this is %s", printable(orUnknown(in.file.Architecture())))
	default:
		in.plan = nil
	}
	return ctx.Err()
}

func orUnknown(architecture string) string {
	if architecture == "" {
		return "a file that does not say what it is"
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
