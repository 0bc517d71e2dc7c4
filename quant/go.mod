module github.com/gemwire/gemwire/quant

go 1.25.0
