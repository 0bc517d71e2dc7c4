// Package quantize writes a model again in other tensor types, as llama.cpp's llama-quantize does: a [Mix] such as
// Q4_K_M gives each tensor its type by its role and its layer, and the same file comes out with the same types.
//
// [NewPlan] decides all types and sizes from a file's header alone; [Plan.Write] then streams the tensors through all
// cores in pieces, so that memory stays small whatever the size of the model.
//
// Read mix.go for the mixes, role.go for what a tensor is, choose.go for the rules, fallback.go for rows that are no
// whole number of blocks, then plan.go and write.go.
//
// The rules are llama.cpp's (src/llama-quant.cpp); testdata/make_types.py asks its library for the types that the
// tests compare with.
package quantize
