module github.com/gemwire/gemwire/gemma4/nano

go 1.25.0

require github.com/gemwire/gemwire/gguf v0.1.0

require (
	github.com/gemwire/gemwire/quant v0.1.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
)

replace (
	github.com/gemwire/gemwire/gguf => ../../gguf
	github.com/gemwire/gemwire/quant => ../../quant
)
