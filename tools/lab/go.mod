// Not released: for clones of the repository alone, where it is built from source.
module github.com/gemwire/gemwire/tools/lab

go 1.25.0

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/dustin/go-humanize v1.1.0
	github.com/ebitengine/purego v0.11.3
	github.com/gemwire/gemwire/finetune v0.1.0
	github.com/gemwire/gemwire/gemma4 v0.1.0
	github.com/gemwire/gemwire/gemma4/nano v0.1.0
	github.com/gemwire/gemwire/gguf v0.1.0
	github.com/gemwire/gemwire/multimodal v0.1.0
	github.com/gemwire/gemwire/quant v0.1.0
	github.com/gemwire/gemwire/tools v0.1.0
	github.com/gemwire/gemwire/wgslkit v0.1.0
	github.com/google/go-cmp v0.7.0
	github.com/mmcloughlin/avo v0.6.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/spf13/cobra v1.10.2
	github.com/x448/float16 v0.8.4
	golang.org/x/mod v0.38.0
	gonum.org/v1/plot v0.17.0
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/cogentcore/webgpu v0.23.0 // indirect
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/hajimehoshi/go-mp3 v0.3.4 // indirect
	github.com/icza/bitio v1.1.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jfreymuth/vorbis v1.0.2 // indirect
	github.com/mattn/go-runewidth v0.0.23 // indirect
	github.com/mewkiz/flac v1.0.14 // indirect
	github.com/mewkiz/pkg v0.0.0-20250417130911-3f050ff8c56d // indirect
	github.com/mewpkg/term v0.0.0-20241026122259-37a80af23985 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/pion/opus v0.1.0 // indirect
	github.com/reeflective/readline v1.3.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/schollz/progressbar/v3 v3.19.1 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/term v0.45.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	golang.org/x/tools v0.48.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace (
	github.com/gemwire/gemwire/finetune => ../../finetune
	github.com/gemwire/gemwire/gemma4 => ../../gemma4
	github.com/gemwire/gemwire/gemma4/nano => ../../gemma4/nano
	github.com/gemwire/gemwire/gguf => ../../gguf
	github.com/gemwire/gemwire/multimodal => ../../multimodal
	github.com/gemwire/gemwire/quant => ../../quant
	github.com/gemwire/gemwire/tools => ../
	github.com/gemwire/gemwire/wgslkit => ../../wgslkit
)
