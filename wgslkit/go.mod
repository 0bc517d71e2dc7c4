module github.com/gemwire/gemwire/wgslkit

go 1.25.0

require (
	github.com/cogentcore/webgpu v0.23.0
	github.com/gemwire/gemwire/quant v0.1.0
)

replace github.com/gemwire/gemwire/quant => ../quant
