package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/gemwire/gemwire/bindings/c/engine"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// answerOptions reads the options; NULL is what Gemma recommends.
func answerOptions(from *C.gwl_answer_options) (engine.AnswerOptions, error) {
	if from == nil {
		return engine.DefaultAnswer(), nil
	}
	c, err := load[C.gemwire_answer_options](unsafe.Pointer(from), "gemwire_answer_options")
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	if err := unused("gemwire_answer_options", c.reserved, c.reserved2); err != nil {
		return engine.AnswerOptions{}, err
	}
	stop, err := texts((*C.gwl_string)(c.stop), c.stop_count, "stop")
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	breakers, err := texts((*C.gwl_string)(c.dry_sequence_breakers), c.dry_sequence_breakers_count,
		"dry_sequence_breakers")
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	tools, err := engine.ParseTools(text((*C.gwl_char)(c.tools_json)))
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	bias, err := biasOf(c.logit_bias, c.logit_bias_count)
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	form, err := engine.ParseForm(text((*C.gwl_char)(c.form_json)))
	if err != nil {
		return engine.AnswerOptions{}, err
	}
	o := engine.AnswerOptions{
		Thinking: c.thinking != 0, PreserveThinking: c.preserve_thinking != 0, Tools: tools,
		Event: tellEvents(c.on_event, c.user),
	}
	o.Forget = c.forget != 0
	readSettings(sampling.Settings, &c, &o.Sampling)
	readSettings(gemma4.AnswerSettings, &c, &o.GenerateOptions)
	o.Sampling.LogitBias, o.Sampling.DrySequenceBreakers, o.Stop, o.Form = bias, breakers, stop, form
	o.Calls = gemma4.ParseCalls(text((*C.gwl_char)(c.tool_choice)))
	o.Calls.Single = c.single_call != 0
	return o, nil
}

//export gemwire_answer_options_init
func gemwire_answer_options_init(options *C.gemwire_answer_options, size C.size_t) C.gemwire_status {
	return call(0, func() error {
		if options == nil {
			return fmt.Errorf("%w: there are no options to initialize", engine.ErrArgument)
		}
		if _, err := sizeOf(unsafe.Pointer(&size), "gemwire_answer_options"); err != nil {
			return err
		}
		d := engine.DefaultAnswer()
		var c C.gemwire_answer_options
		writeSettings(sampling.Settings, &d.Sampling, &c)
		writeSettings(gemma4.AnswerSettings, &d.GenerateOptions, &c)
		clear(unsafe.Slice((*byte)(unsafe.Pointer(options)), size))
		store(unsafe.Pointer(options), c, int(size))
		*(*C.size_t)(unsafe.Pointer(options)) = size
		return nil
	})
}

var mediumTypes = map[C.gemwire_medium_kind]chat.PartType{C.GEMWIRE_IMAGE: chat.Image, C.GEMWIRE_AUDIO: chat.Audio,
	C.GEMWIRE_VIDEO: chat.Video}

// mediaOf copies an array of media, each as long as the first one says.
func mediaOf(first *C.gwl_medium, count C.size_t) ([]engine.Medium, error) {
	if count == 0 {
		return nil, nil
	}
	if _, err := array(first, count, "media"); err != nil {
		return nil, err
	}
	size, err := sizeOf(unsafe.Pointer(first), "gemwire_medium")
	if err != nil {
		return nil, err
	}
	list := make([]engine.Medium, count)
	for i := range list {
		c, err := load[C.gemwire_medium](unsafe.Add(unsafe.Pointer(first), i*size), "gemwire_medium")
		if err != nil {
			return nil, err
		}
		if err := unused("gemwire_medium", c.reserved); err != nil {
			return nil, err
		}
		data, err := array((*byte)(c.data), c.length, fmt.Sprintf("data of medium %d", i))
		if err != nil {
			return nil, err
		}
		list[i] = engine.Medium{
			Type: mediumTypes[c.kind], Data: append([]byte(nil), data...), Budget: int(c.image_budget),
			Split: c.split != 0, Path: text((*C.gwl_char)(c.path)), Frames: int(c.frames), Sound: c.sound != 0,
			FPS: float64(c.fps), Width: int(c.width), Height: int(c.height),
		}
		if list[i].Indices, err = indicesOf(&c, len(data)); err != nil {
			return nil, fmt.Errorf("medium %d: %w", i, err)
		}
	}
	return list, nil
}

// indicesOf are the numbers of a video's frames, of which data holds so many bytes; nil for
// a file.
func indicesOf(c *C.gemwire_medium, length int) ([]int, error) {
	if c.width == 0 && c.height == 0 && c.indices == nil {
		return nil, nil
	}
	const most = 1 << 14
	if c.width < 1 || c.height < 1 || c.width > most || c.height > most || length%(4*int(c.width)*int(c.height)) != 0 {
		return nil, fmt.Errorf("%w: %d bytes are no frames of %d × %d pixels of four bytes", engine.ErrArgument, length,
			c.width, c.height)
	}
	numbers, err := array((*int32)(unsafe.Pointer(c.indices)), C.size_t(length/(4*int(c.width)*int(c.height))), "indices")
	if err != nil {
		return nil, err
	}
	indices := make([]int, len(numbers))
	for i, n := range numbers {
		indices[i] = int(n)
	}
	return indices, nil
}

var reasons = map[chat.Reason]C.gemwire_reason{
	chat.ReasonStop:       C.GEMWIRE_REASON_STOP,
	chat.ReasonToolCalls:  C.GEMWIRE_REASON_TOOL_CALLS,
	chat.ReasonStopString: C.GEMWIRE_REASON_STOP_STRING,
	chat.ReasonLength:     C.GEMWIRE_REASON_LENGTH,
	chat.ReasonCancelled:  C.GEMWIRE_REASON_CANCELLED,
	chat.ReasonRepetition: C.GEMWIRE_REASON_REPETITION,
}

func resultOf(r engine.Result) C.gemwire_result {
	u := r.Usage
	inCall := C.int32_t(0)
	if r.InCall {
		inCall = 1
	}
	return C.gemwire_result{
		reason: reasons[r.Reason], prompt_tokens: C.int32_t(u.Prompt), computed_tokens: C.int32_t(u.Computed),
		answer_tokens: C.int32_t(u.Answer), media: C.int32_t(u.Media), media_seconds: C.double(u.MediaTime.Seconds()),
		prefill_seconds: C.double(u.PrefillTime.Seconds()), decode_seconds: C.double(u.DecodeTime.Seconds()),
		drafted_tokens: C.int32_t(u.Drafted), right_tokens: C.int32_t(u.DraftsRight),
		assisted_tokens: C.int32_t(u.Assisted), assisted_right_tokens: C.int32_t(u.AssistedRight),
		forgotten_messages: C.int32_t(u.Forgotten), in_call: inCall,
	}
}

// answer reads what all answers have, and fills in the result.
func answer(session C.gemwire_session, options *C.gwl_answer_options, result *C.gemwire_result,
	run func(engine.AnswerOptions) (engine.Result, error)) C.gemwire_status {
	return call(session, func() error {
		size := 0
		if result != nil {
			var err error
			if size, err = sizeOf(unsafe.Pointer(result), "gemwire_result"); err != nil {
				return err
			}
			store(unsafe.Pointer(result), C.gemwire_result{}, size)
		}
		o, err := answerOptions(options)
		if err != nil {
			return err
		}
		r, err := run(o)
		if result != nil {
			store(unsafe.Pointer(result), resultOf(r), size)
		}
		return err
	})
}

//export gemwire_say
func gemwire_say(session C.gemwire_session, said *C.gwl_char, media *C.gwl_medium, media_count C.size_t,
	options *C.gwl_answer_options, result *C.gemwire_result) C.gemwire_status {
	return answer(session, options, result, func(o engine.AnswerOptions) (engine.Result, error) {
		said, err := needText(said, "text")
		if err != nil {
			return engine.Result{}, err
		}
		list, err := mediaOf(media, media_count)
		if err != nil {
			return engine.Result{}, err
		}
		return library.Say(context.Background(), engine.Handle(session), said, list, o)
	})
}

//export gemwire_chat
func gemwire_chat(session C.gemwire_session, messages_json *C.gwl_char, media *C.gwl_medium, media_count C.size_t,
	options *C.gwl_answer_options, result *C.gemwire_result) C.gemwire_status {
	return answer(session, options, result, func(o engine.AnswerOptions) (engine.Result, error) {
		messages, err := engine.ParseMessages(text(messages_json))
		if err != nil {
			return engine.Result{}, err
		}
		list, err := mediaOf(media, media_count)
		if err != nil {
			return engine.Result{}, err
		}
		return library.Chat(context.Background(), engine.Handle(session), messages, list, o)
	})
}

//export gemwire_generate
func gemwire_generate(session C.gemwire_session, prompt *C.gwl_char, options *C.gwl_answer_options,
	result *C.gemwire_result) C.gemwire_status {
	return answer(session, options, result, func(o engine.AnswerOptions) (engine.Result, error) {
		prompt, err := needText(prompt, "prompt")
		if err != nil {
			return engine.Result{}, err
		}
		return library.Generate(context.Background(), engine.Handle(session), prompt, o)
	})
}
