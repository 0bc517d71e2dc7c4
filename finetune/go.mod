module github.com/gemwire/gemwire/finetune

go 1.25.0

require (
	github.com/gemwire/gemwire/gemma4 v0.1.0
	github.com/gemwire/gemwire/gguf v0.1.0
	github.com/gemwire/gemwire/quant v0.1.0
	github.com/gemwire/gemwire/wgslkit v0.1.0
	github.com/google/go-cmp v0.7.0
)

replace (
	github.com/gemwire/gemwire/gemma4 => ../gemma4
	github.com/gemwire/gemwire/gguf => ../gguf
	github.com/gemwire/gemwire/quant => ../quant
	github.com/gemwire/gemwire/wgslkit => ../wgslkit
)
