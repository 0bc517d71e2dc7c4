// Package gemma4 runs Gemma 4: it opens a GGUF file, computes on the GPU or
// the CPU, and answers prompts and conversations.
//
// A Model is opened once; a Session is one text and the caches that belong to
// it. An answer is a sequence of events that the caller ranges over; leaving
// the loop, or cancelling its context, ends it within one step.
//
// Read graph.go first: it spells the model, step by step, over the kernels of
// wgslkit/ops. weights.go and residency.go bring a file's tensors to the GPU,
// and rehearsal.go knows beforehand what that takes;
// programs.go records the graph, state_gpu.go replays it token by token;
// engine_gpu.go and engine_cpu.go stand behind the one seam, engine.go.
// model.go, session.go, generate.go and saved.go are the public face.
// draft.go and assistant.go guess tokens ahead, which verify_gpu.go and the CPU's
// engine check in one pass; assistant_gpu.go records the assistant's step. prompt.go
// and media.go let soft tokens of images and clips stand in a text; piece.go,
// soft_gpu.go and widen_gpu.go bring them to the engines.
//
// Beside this package: arch knows the sizes and tensors of a file, tokenizer
// and chat turn text into tokens and back, sample says how a token is chosen,
// cpu is the plain float32 path that everything is compared with, and nano is
// a small built-in model.
package gemma4
