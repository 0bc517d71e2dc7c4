module github.com/gemwire/gemwire/quant

go 1.25.0

require github.com/x448/float16 v0.8.4
