// Not released: it keeps the recipe and its checkpoint out of what users of the model download.
module github.com/gemwire/gemwire/gemma4/nano/recipe

go 1.26
