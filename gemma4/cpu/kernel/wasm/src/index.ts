// The kernels that Go imports, one file for each kind. They work on the memory
// of the Go program: pointers are addresses there, lengths count values, and
// nothing here is kept between two calls. There must be no static data: it would
// be laid over Go's own.
export { axpy, mul, scores, weightedSum } from "./products";
export { decode, mulRows } from "./rows";
export { gatedGelu, softcap, softmax } from "./activations";
export { rmsNorm, rmsNormPlain } from "./norm";
