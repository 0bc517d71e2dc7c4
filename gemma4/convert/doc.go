// Package convert makes GGUF files of Gemma 4 checkpoints as Hugging Face has them: a folder with config.json,
// safetensors files and tokenizer.json. Names, shapes and metadata are those of llama.cpp's converter.
//
// Read folder.go for what is read, names.go for what each tensor is called in the new file, metadata.go and
// vocabulary.go for the keys, then convert.go.
package convert
