module github.com/gemwire/gemwire/wgslkit

go 1.25.0

require (
	github.com/cogentcore/webgpu v0.23.0
	github.com/ebitengine/purego v0.11.3
	github.com/gemwire/gemwire/quant v0.1.0
	github.com/google/go-cmp v0.7.0
)

require github.com/x448/float16 v0.8.4 // indirect

replace github.com/gemwire/gemwire/quant => ../quant
