// Package finetune trains LoRA adapters over a model's frozen, quantized weights.
//
//	kept, err := finetune.Rehearse(ctx, model, finetune.Rehearsal{})
//	data := finetune.Data{Train: examples, Rehearsed: kept}
//	trainer, err := finetune.New(ctx, model, data, finetune.Config{})
//	for event, err := range trainer.Run(ctx) { … }
//	adapter, err := trainer.Adapter(ctx)
//	err = adapter.Save("my-adapter")
//
// Read config.go, then trainer.go (a run: order.go says which examples a step
// takes, dropout.go which of their words it changes, evaluate.go how it is judged), rehearse.go
// (what a model is held to while it learns), checkpoint.go (stopping and going on) and engine.go:
// what computes, engine_cpu.go on the CPU and engine_gpu.go on the GPU.
//
// Below it: tape spells the model once for both directions, cpu and gpu compute
// that in float32; dataset makes examples of JSONL files; schedule and optimizer are
// what their names say.
package finetune
