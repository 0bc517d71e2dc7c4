module github.com/gemwire/gemwire/bindings/wasm

go 1.25.0

require (
	github.com/gemwire/gemwire/finetune v0.1.0
	github.com/gemwire/gemwire/gemma4 v0.1.0
	github.com/gemwire/gemwire/gemma4/nano v0.1.0
	github.com/gemwire/gemwire/gguf v0.1.0
	github.com/gemwire/gemwire/multimodal v0.1.0
	github.com/gemwire/gemwire/wgslkit v0.1.0
	github.com/google/go-cmp v0.7.0
)

require (
	github.com/cogentcore/webgpu v0.23.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/gemwire/gemwire/quant v0.1.0 // indirect
	github.com/hajimehoshi/go-mp3 v0.3.4 // indirect
	github.com/icza/bitio v1.1.0 // indirect
	github.com/jfreymuth/vorbis v1.0.2 // indirect
	github.com/mewkiz/flac v1.0.14 // indirect
	github.com/mewkiz/pkg v0.0.0-20250417130911-3f050ff8c56d // indirect
	github.com/mewpkg/term v0.0.0-20241026122259-37a80af23985 // indirect
	github.com/pion/opus v0.1.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace (
	github.com/gemwire/gemwire/finetune => ../../finetune
	github.com/gemwire/gemwire/gemma4 => ../../gemma4
	github.com/gemwire/gemwire/gemma4/nano => ../../gemma4/nano
	github.com/gemwire/gemwire/gguf => ../../gguf
	github.com/gemwire/gemwire/multimodal => ../../multimodal
	github.com/gemwire/gemwire/quant => ../../quant
	github.com/gemwire/gemwire/wgslkit => ../../wgslkit
)
