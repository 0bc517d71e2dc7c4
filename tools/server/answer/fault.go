package answer

import (
	"context"
	"errors"
	"net/http"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/multimodal"
	towers "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/outward"
	"github.com/gemwire/gemwire/tools/server/queue"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// What a caller can act on, beside the errors of the packages below.
var (
	// ErrRequest: a request that makes no sense.
	ErrRequest = errors.New("bad request")
	// ErrNowhere: nothing is served at the request's path, or not with its method.
	ErrNowhere = errors.New("not served")
	// ErrTooLarge: a body that is larger than the server takes.
	ErrTooLarge = errors.New("the request is too large")
	// ErrTime: an answer took longer than the server allows.
	ErrTime = errors.New("the answer took longer than this server allows")
)

// Kind says whose fault an error is, and what a client can do about it.
type Kind int

// The kinds.
const (
	Broken      Kind = iota // the server's own
	Bad                     // the request's
	TooLong                 // a prompt that does not fit the context
	Unknown                 // no such model
	Nowhere                 // no such path
	Large                   // a body that is too large
	Busy                    // too many requests
	Unavailable             // no memory, or the server is stopping
	Late                    // it took too long
	Gone                    // the client left
)

// Status is the HTTP status of a kind.
func (k Kind) Status() int {
	return [...]int{
		Broken: http.StatusInternalServerError, Bad: http.StatusBadRequest, TooLong: http.StatusBadRequest,
		Unknown: http.StatusNotFound, Nowhere: http.StatusNotFound,
		Large: http.StatusRequestEntityTooLarge, Busy: http.StatusTooManyRequests,
		Unavailable: http.StatusServiceUnavailable, Late: http.StatusGatewayTimeout, Gone: 499,
	}[k]
}

// kinds are looked through in order.
var kinds = []struct {
	kind Kind
	of   []error
}{
	{Late, []error{ErrTime}},
	{Gone, []error{context.Canceled}},
	{Late, []error{context.DeadlineExceeded}},
	{Unknown, []error{models.ErrNotFound}},
	{Nowhere, []error{ErrNowhere}},
	{Large, []error{ErrTooLarge}},
	{TooLong, []error{gemma4.ErrContextFull, embedding.ErrTooLong}},
	{Busy, []error{queue.ErrFull}},
	{Unavailable, []error{queue.ErrClosed, gemma4.ErrDoesNotFit, wgslkit.ErrOutOfMemory, gemma4.ErrBusy}},
	{Bad, []error{
		ErrRequest, models.ErrNoEmbeddings, embedding.ErrInput, arch.ErrArchitecture, models.ErrName, models.ErrKept,
		models.ErrRecipe, models.ErrPull, outward.ErrPrivate,
		sampling.ErrSetting, chat.ErrMessage, chat.ErrTool, grammar.ErrSyntax, grammar.ErrChoice, grammar.ErrUnsupported,
		grammar.ErrUnsatisfiable, grammar.ErrTooComplex, multimodal.ErrOptions, multimodal.ErrNoBytes, towers.ErrNoVision,
		towers.ErrNoAudio, picture.ErrFormat, picture.ErrDamaged, picture.ErrSize, sound.ErrFormat, sound.ErrDamaged,
		sound.ErrTooShort, sound.ErrTooLong, sound.ErrSamples,
	}},
}

// KindOf tells what kind of error it is.
func KindOf(err error) Kind {
	for _, k := range kinds {
		for _, e := range k.of {
			if errors.Is(err, e) {
				return k.kind
			}
		}
	}
	return Broken
}

// Sentence is an error for whoever has sent the request.
func Sentence(err error) string { return cli.Sentence(err) }
