// Package gguf reads and writes GGUF files, the container that holds the
// weights, the tokenizer and the settings of a model.
//
// Opening a file reads its header alone, in a few large reads; the values of a
// tensor are read when they are asked for. The bytes may come from memory, from
// a local file, from an HTTP server that serves ranges, or from any other
// [Source]. A model that was split over several files, or that keeps its image
// and audio towers in a second (mmproj) file, is opened as one [File].
//
// Every count and length in a file is checked against what the source can hold
// before anything is allocated for it, so that a damaged or hostile file ends in
// an error that names the byte and the key or tensor, see [FormatError].
//
// Where to read first: file.go (what is opened and how), then header.go (the
// layout of the header, in the order of the format) over cursor.go (the few
// large reads), value.go and metadata.go (what keys hold), tensor.go (what the
// data section holds). parts.go and projector.go join files. source.go and the
// source_*.go beside it fetch bytes. writer.go makes files.
//
// The build tag nohttp leaves [OpenURL] and [OpenRemote] out, and with them
// net/http, for programs that have a way to servers of their own.
//
// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
package gguf
