// Package gemma4 runs Gemma 4, and the text of Gemma 3: it opens a GGUF file, computes on
// the GPU or the CPU, and answers prompts and conversations.
//
// A Model is opened once; a Session is one text and the caches that belong to
// it. An answer is a sequence of events that the caller ranges over; leaving
// the loop, or cancelling its context, ends it within one step.
//
// This package is the public face. Read model.go, session.go and generate.go
// first; choose.go is the loop below an answer. batch.go answers many prompts at once, in
// batch_loop.go, with batch_slots.go for what prompts share. device.go picks the engine, gpu or
// cpu, which both stand behind internal/engine, and plan.go says beforehand what
// it would take. prompt.go, media.go and softcache.go let images and clips stand in
// a text, adapters.go and saved.go say what their names do. speculation.go decides how
// many tokens are drafted, lookup.go drafts them from the text itself, and
// assistant.go attaches a model that does.
//
// Beside this package: arch knows the sizes and tensors of a file, tokenizer
// and chat turn text into tokens and back, sample says how a token is chosen,
// cpu is the plain float32 path that everything is compared with, gpu the graph
// over wgslkit, and nano is a small built-in model.
package gemma4
