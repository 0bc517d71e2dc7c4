// The command beam answers a file of requests with gemwire in an Apache Beam pipeline: on this machine, or on Flink,
// Dataflow or whatever else runs Beam. Requests and answers are those of "gemwire batch".
//
//	go run . --requests requests.jsonl --answers answers.jsonl --model gemma4:e4b
package main

import (
	"context"
	"flag"
	"log"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

func main() {
	requests := flag.String("requests", "", "the `FILES` of requests, such as gs://bucket/requests-*.jsonl")
	answers := flag.String("answers", "", "the `FILE` that the answers are written to")
	model := flag.String("model", "", "the `MODEL` that answers")
	program := flag.String("gemwire", "gemwire", "the `PROGRAM`, as workers find it")
	parallel := flag.Int("parallel", 16, "make this `NUMBER` of answers at once")
	device := flag.String("device", "auto", "compute on this `DEVICE`")
	flag.Parse()
	beam.Init() // a worker stays here
	if *requests == "" || *answers == "" || *model == "" {
		log.Fatal("beam: name --requests, --answers and --model")
	}
	p, s := beam.NewPipelineWithRoot()
	lines := beam.Reshuffle(s, textio.Read(s, *requests)) // so that all workers get some
	answered := beam.ParDo(s, &answerFn{*program, *model, *device, *parallel, nil}, lines)
	textio.Write(s, *answers, answered)
	if err := beamx.Run(context.Background(), p); err != nil {
		log.Fatal("beam: ", err)
	}
}
