package answer

import (
	"fmt"
	"io"

	"github.com/gemwire/gemwire/gemma4"
)

const batchSize = "gemwire_batch_size"

// writeBatchSizes writes a histogram of how many tokens the steps of a model's batch have
// chosen at once, in Prometheus' text form.
func writeBatchSizes(w io.Writer, model string, batch *gemma4.BatchStats) {
	var count, sum int64
	for bound, n := 1, 0; bound <= gemma4.MostStreams; bound *= 2 {
		for ; n <= bound && n < len(batch.Sizes); n++ {
			count += batch.Sizes[n]
			sum += int64(n) * batch.Sizes[n]
		}
		fmt.Fprintf(w, "%s_bucket{model=%q,le=\"%d\"} %d\n", batchSize, model, bound, count)
	}
	fmt.Fprintf(w, "%s_bucket{model=%q,le=\"+Inf\"} %d\n", batchSize, model, count)
	fmt.Fprintf(w, "%s_sum{model=%q} %d\n%s_count{model=%q} %d\n", batchSize, model, sum, batchSize, model, count)
}
