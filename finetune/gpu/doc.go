// Package gpu computes a training tape with recorded programs over wgslkit: the
// twin of package cpu. It reads the weights that an open model has on its GPU, as
// they are quantized there, and keeps nothing but what the way back needs.
//
// Read machine.go, what there is to call; plan.go, which lays out a batch size's
// buffers and records its programs by walking the tape there and back (walk.go;
// forward.go and back.go say what each op records in either direction, linear.go
// both for products with adapters, attend.go for attention, mixture.go for experts;
// halves.go, how values may wait in between); pool.go, whose buffers serve one value
// after another, and which cuts values that no binding holds into pieces; batch.go,
// what changes from batch to batch (host_rows.go what the file keeps of it); pairs.go
// and step.go, the adapter and how it moves.
package gpu
