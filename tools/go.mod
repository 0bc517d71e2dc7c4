module github.com/gemwire/gemwire/tools

go 1.25.0

require (
	github.com/VictoriaMetrics/metrics v1.44.0
	github.com/andybalholm/brotli v1.2.8
	github.com/dustin/go-humanize v1.1.0
	github.com/gemwire/gemwire/finetune v0.1.0
	github.com/gemwire/gemwire/gemma4 v0.1.0
	github.com/gemwire/gemwire/gemma4/nano v0.1.0
	github.com/gemwire/gemwire/gguf v0.1.0
	github.com/gemwire/gemwire/multimodal v0.1.0
	github.com/gemwire/gemwire/wgslkit v0.1.0
	github.com/gofrs/flock v0.13.1
	github.com/google/go-cmp v0.7.0
	github.com/mdp/qrterminal/v3 v3.2.1
	github.com/minio/minio-go/v7 v7.3.0
	github.com/reeflective/readline v1.3.0
	github.com/schollz/progressbar/v3 v3.19.1
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	golang.org/x/term v0.45.0
	gopkg.in/ini.v1 v1.67.3
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hajimehoshi/go-mp3 v0.3.4 // indirect
	github.com/icza/bitio v1.1.0 // indirect
	github.com/jfreymuth/vorbis v1.0.2 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/klauspost/crc32 v1.3.0 // indirect
	github.com/mewkiz/flac v1.0.14 // indirect
	github.com/mewkiz/pkg v0.0.0-20250417130911-3f050ff8c56d // indirect
	github.com/mewpkg/term v0.0.0-20241026122259-37a80af23985 // indirect
	github.com/minio/crc64nvme v1.1.1 // indirect
	github.com/minio/md5-simd v1.1.2 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/pion/opus v0.1.0 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/valyala/fastrand v1.1.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/net v0.58.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

require (
	github.com/cogentcore/webgpu v0.23.0 // indirect
	github.com/gemwire/gemwire/quant v0.1.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.47.0
	gonum.org/v1/gonum v0.17.0 // indirect
	rsc.io/qr v0.2.0 // indirect
)

replace (
	github.com/gemwire/gemwire/finetune => ../finetune
	github.com/gemwire/gemwire/gemma4 => ../gemma4
	github.com/gemwire/gemwire/gemma4/nano => ../gemma4/nano
	github.com/gemwire/gemwire/gguf => ../gguf
	github.com/gemwire/gemwire/multimodal => ../multimodal
	github.com/gemwire/gemwire/quant => ../quant
	github.com/gemwire/gemwire/wgslkit => ../wgslkit
)
