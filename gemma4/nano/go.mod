module github.com/gemwire/gemwire/gemma4/nano

go 1.25.0
