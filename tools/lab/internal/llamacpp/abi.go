package llamacpp

//lint:file-ignore U1000 the structs have all fields of C's, which we set few of

import (
	"structs"
	"unsafe"
)

// Version is llama.cpp's release that the structs below are those of; they are
// passed by value, so that another release's would be taken for something else.
// The prebuilt libraries come without headers and call themselves 0.5.0-dev.
const Version = "0.5.0"

// packageVersion is that of npm's packages which hold it.
const packageVersion = "3.22.1"

const noToken = -1

// Types of devices.
const (
	deviceCPU = iota
	deviceGPU
	deviceIntegratedGPU
)

const (
	splitLayer = 1
	flashAuto  = -1
	typeF16    = 1 // ggml's number for the caches' default type
	logWarn    = 3
	logError   = 4
)

type batch struct {
	_ structs.HostLayout

	tokens int32
	token  *int32
	embd   unsafe.Pointer
	pos    unsafe.Pointer
	nSeqID unsafe.Pointer
	seqID  unsafe.Pointer
	logits unsafe.Pointer
}

type modelParams struct {
	_ structs.HostLayout

	devices          *uintptr // ends with 0; an empty list keeps everything on the CPU
	tensorOverrides  unsafe.Pointer
	gpuLayers        int32
	splitMode        int32
	loadMode         int32
	lazyMode         int32
	mainGPU          int32
	_                int32
	tensorSplit      unsafe.Pointer
	progressCallback uintptr
	progressUser     unsafe.Pointer
	kvOverrides      unsafe.Pointer
	vocabOnly        bool
	checkTensors     bool
	useExtraBuffers  bool
	noHost           bool
	noAlloc          bool
	loadMTP          bool
	_                [2]bool
}

type samplerConfig struct {
	_ structs.HostLayout

	sequence int32
	_        int32
	sampler  uintptr
}

type contextParams struct {
	_ structs.HostLayout

	context             uint32
	batch               uint32
	microBatch          uint32
	sequences           uint32
	recurrentStates     uint32
	outputs             uint32
	outputsPerSequence  uint32
	threads             int32
	threadsBatch        int32
	contextType         int32
	ropeScaling         int32
	pooling             int32
	attention           int32
	flashAttention      int32
	ropeBase            float32
	ropeScale           float32
	yarnExtFactor       float32
	yarnAttnFactor      float32
	yarnBetaFast        float32
	yarnBetaSlow        float32
	yarnOriginalContext uint32
	defragThreshold     float32
	evalCallback        uintptr
	evalUser            unsafe.Pointer
	typeK               int32
	typeV               int32
	abortCallback       uintptr
	abortUser           unsafe.Pointer
	embeddings          bool
	offloadKQV          bool
	noPerf              bool
	opOffload           bool
	swaFull             bool
	kvUnified           bool
	_                   [2]bool
	samplers            *samplerConfig
	samplerCount        uint64
	other               uintptr
}

type chainParams struct {
	_      structs.HostLayout
	noPerf bool
}

// functions are those that are looked up, each under the name in its tag.
// Handles of models, contexts and the like are numbers to us.
type functions struct {
	loadBackends    func(dir string)                                  `c:"ggml_backend_load_all_from_path"`
	deviceCount     func() uint64                                     `c:"ggml_backend_dev_count"`
	device          func(index uint64) uintptr                        `c:"ggml_backend_dev_get"`
	deviceName      func(device uintptr) string                       `c:"ggml_backend_dev_name"`
	deviceText      func(device uintptr) string                       `c:"ggml_backend_dev_description"`
	deviceType      func(device uintptr) int32                        `c:"ggml_backend_dev_type"`
	version         func() string                                     `c:"llama_version"`
	logSet          func(callback uintptr, user unsafe.Pointer)       `c:"llama_log_set"`
	backendInit     func()                                            `c:"llama_backend_init"`
	modelDefaults   func() modelParams                                `c:"llama_model_default_params"`
	contextDefaults func() contextParams                              `c:"llama_context_default_params"`
	chainDefaults   func() chainParams                                `c:"llama_sampler_chain_default_params"`
	modelLoad       func(path string, params modelParams) uintptr     `c:"llama_model_load_from_file"`
	modelFree       func(model uintptr)                               `c:"llama_model_free"`
	modelVocab      func(model uintptr) uintptr                       `c:"llama_model_get_vocab"`
	modelText       func(model uintptr, text *byte, n uint64) int32   `c:"llama_model_desc"`
	vocabTokens     func(vocab uintptr) int32                         `c:"llama_vocab_n_tokens"`
	contextInit     func(model uintptr, params contextParams) uintptr `c:"llama_init_from_model"`
	contextFree     func(context uintptr)                             `c:"llama_free"`
	memory          func(context uintptr) uintptr                     `c:"llama_get_memory"`
	memoryClear     func(memory uintptr, data bool)                   `c:"llama_memory_clear"`
	decode          func(context uintptr, b batch) int32              `c:"llama_decode"`
	synchronize     func(context uintptr)                             `c:"llama_synchronize"`
	logits          func(context uintptr, index int32) *float32       `c:"llama_get_logits_ith"`
	sampled         func(context uintptr, index int32) int32          `c:"llama_get_sampled_token_ith"`
	chainInit       func(params chainParams) uintptr                  `c:"llama_sampler_chain_init"`
	chainAdd        func(chain, sampler uintptr)                      `c:"llama_sampler_chain_add"`
	greedy          func() uintptr                                    `c:"llama_sampler_init_greedy"`
	samplerFree     func(sampler uintptr)                             `c:"llama_sampler_free"`
}

// expected says whether the defaults are those of the release: a struct that is
// laid out in another way would show other numbers in these places.
func expected(m modelParams, c contextParams) bool {
	return m.devices == nil && m.gpuLayers == -1 && m.splitMode == splitLayer && m.loadMode == -1 && m.lazyMode == 1 &&
		m.useExtraBuffers && !m.loadMTP &&
		c.context == 512 && c.batch == 2048 && c.microBatch == 512 && c.sequences == 1 && c.outputsPerSequence == 1 &&
		c.flashAttention == flashAuto && c.yarnExtFactor == -1 && c.defragThreshold == -1 &&
		c.typeK == typeF16 && c.typeV == typeF16 && !c.embeddings && c.offloadKQV && c.noPerf && c.opOffload &&
		c.swaFull &&
		!c.kvUnified && c.samplers == nil && c.samplerCount == 0 && c.other == 0
}
