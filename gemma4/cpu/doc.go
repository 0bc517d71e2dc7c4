// Package cpu runs a Gemma 4 text model on the CPU in float32: the path for
// machines without a GPU, and the twin that the GPU graph is compared with.
//
// It is written to be checked by eye against the description of the model: one
// file for each part, plain loops, the parts in the order in which a token
// passes them. Sums that many terms go into (norms, softmax) are kept in float64.
//
// Read forward.go for a step as a whole and layer.go for one layer, then
// embedding.go, per_layer.go, attention.go, rope.go, feedforward.go, experts.go
// and head.go for the parts. model.go and weights.go load the file, matmul.go
// and threads.go do most of the work, with the loops of package kernel; cache.go keeps
// the keys and values, those of layers that share them once, and state.go takes
// them out for saving. forward_rows.go takes one token each of
// several texts through the layers. engine.go is what package gemma4 holds, batch.go the
// same for many texts, and plan.go counts
// what it takes; platform_js.go bounds that in a browser. cores.go lends the products to the image and
// audio towers; assistant.go drafts for the model over its caches.
package cpu
