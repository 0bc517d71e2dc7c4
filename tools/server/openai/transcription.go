package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gemwire/gemwire/gemma4/chat"
	towers "github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// transcriptionRequest is the form of a transcription.
type transcriptionRequest struct {
	model, language, prompt, format string
	temperature                     float32
	audio                           []byte
}

// formMemory is how much of a form is kept in memory while it is read.
const formMemory = 32 << 20

func (a *api) readTranscription(w http.ResponseWriter, r *http.Request) (in transcriptionRequest, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, a.mostBody)
	var large *http.MaxBytesError
	if err := r.ParseMultipartForm(formMemory); errors.As(err, &large) {
		return in, fmt.Errorf("%w: %d bytes are the most", answer.ErrTooLarge, a.mostBody)
	} else if err != nil {
		return in, fmt.Errorf("%w: send a form (multipart/form-data) with file and model: %w", answer.ErrRequest, err)
	}
	defer func() { err = errors.Join(err, r.MultipartForm.RemoveAll()) }()
	in.model, in.language, in.prompt = r.FormValue("model"), r.FormValue("language"), r.FormValue("prompt")
	in.format = r.FormValue("response_format")
	if t := r.FormValue("temperature"); t != "" {
		n, err := strconv.ParseFloat(t, 32)
		if err != nil {
			return in, &paramError{"temperature", fmt.Errorf("%w: a temperature of %.20q", answer.ErrRequest, t)}
		}
		in.temperature = float32(n)
	}
	switch in.format {
	case "", "json", "text":
	default:
		return in, &paramError{"response_format", fmt.Errorf("%w: transcriptions come as json or text, not %.20q",
			answer.ErrRequest, in.format)}
	}
	file, _, err := r.FormFile("file")
	if err != nil {
		return in, &paramError{"file", fmt.Errorf("%w: the form has no file", answer.ErrRequest)}
	}
	defer file.Close()
	in.audio, err = io.ReadAll(file)
	return in, err
}

// question asks for a transcript, as Google's model card does.
func (in transcriptionRequest) question() string {
	what := "the language that is spoken"
	if in.language != "" {
		what = "the language " + in.language
	}
	text := "Transcribe the following speech segment in " + what + " into text in that language. Only output the " +
		"transcription, with no newlines."
	if in.prompt != "" {
		text += " It is about: " + in.prompt
	}
	return text
}

func (in transcriptionRequest) request(e models.Entry, client string) (answer.Request, error) {
	options, context, err := e.Defaults()
	options.Sampling.Temperature = in.temperature
	r := answer.Request{Options: options, Context: context, Client: client}
	r.Conversation.Messages = []chat.Message{{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: chat.TextPart, Text: in.question()}, chat.Part{Type: chat.Audio, Data: in.audio, Split: true},
	)}}
	return r, err
}

// transcriptions answers POST /v1/audio/transcriptions with a model that hears.
func (a *api) transcriptions(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := a.Limit(r.Context())
	defer cancel()
	in, err := a.readTranscription(w, r)
	var entry models.Entry
	if err == nil {
		entry, err = a.find(in.model)
	}
	var request answer.Request
	if err == nil {
		request, err = in.request(entry, wire.Client(r))
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	wire.Patient(w)
	open, err := a.use(ctx, entry)
	if err != nil {
		Refuse(w, err)
		return
	}
	defer open.Done()
	if !open.Media.Audio() {
		Refuse(w, fmt.Errorf("%s: %w", entry.Name, towers.ErrNoAudio))
		return
	}
	var said strings.Builder
	for e, err := range a.Answer(ctx, open, request) {
		if err != nil {
			Refuse(w, err)
			return
		}
		if e.Kind == chat.TextEvent {
			said.WriteString(e.Text)
		}
	}
	if in.format == "text" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, said.String()+"\n") // a client that is gone needs no answer
		return
	}
	wire.JSON(w, http.StatusOK, map[string]string{"text": said.String()})
}
