// Package finetune trains LoRA adapters over a model's frozen, quantized weights.
//
//	trainer, err := finetune.New(ctx, model, examples, finetune.Config{Rank: 16})
//	for event, err := range trainer.Run(ctx) { … }
//	err = trainer.Adapter().Save("my-adapter")
//
// Read config.go, then trainer.go (a run: order.go says which examples a step
// takes, evaluate.go how it is judged), checkpoint.go (stopping and going on) and
// engine.go: what computes, engine_cpu.go on the CPU and engine_gpu.go on the GPU.
//
// Below it: tape spells the model once for both directions, cpu and gpu compute
// that in float32; dataset makes examples of JSONL files; schedule and optimizer are
// what their names say.
package finetune
