module github.com/gemwire/gemwire/finetune

go 1.25.0

require (
	github.com/gemwire/gemwire/gemma4 v0.1.0
	github.com/gemwire/gemwire/gemma4/nano v0.1.0
	github.com/gemwire/gemwire/gguf v0.1.0
	github.com/gemwire/gemwire/wgslkit v0.1.0
	github.com/google/go-cmp v0.7.0
)

require (
	github.com/cogentcore/webgpu v0.23.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/gemwire/gemwire/quant v0.1.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace (
	github.com/gemwire/gemwire/gemma4 => ../gemma4
	github.com/gemwire/gemwire/gemma4/nano => ../gemma4/nano
	github.com/gemwire/gemwire/gguf => ../gguf
	github.com/gemwire/gemwire/quant => ../quant
	github.com/gemwire/gemwire/wgslkit => ../wgslkit
)
