#!/usr/bin/env python3
"""What transformers' processor makes of videos: which frames it takes, and the text in their place.

`python video.py > ../../multimodal/video/testdata/sampled.json`, with the packages of requirements.txt. Only its
arithmetic is run: no video is decoded, no model is loaded.
"""

import json
import sys
from types import SimpleNamespace

from transformers.models.gemma4.processing_gemma4 import Gemma4Processor
from transformers.video_utils import VideoMetadata, default_sample_indices_fn

BOI, EOI, VIDEO = "<|image>", "<image|>", "<|video|>"
RATES = [None, 1, 12.5, 24, 25, 30, 30000 / 1001, 59.94, 24000 / 1001, 60, 1 / 3, 7]
FRAMES = [(32, 32), (33, 32), (64, 32), (250, 32), (1000, 32), (7201, 32), (216000, 32), (5, 3), (9, 8), (100, 7), (1, 1)]


def case(frames, fps, num_frames, soft_tokens):
    metadata = VideoMetadata(total_num_frames=frames, fps=fps)
    indices = default_sample_indices_fn(metadata, num_frames=num_frames)
    metadata.frames_indices = indices
    processor = SimpleNamespace(boi_token=BOI, eoi_token=EOI, video_token=VIDEO)
    inputs = {"num_soft_tokens_per_video": [soft_tokens], "video_metadata": [metadata]}
    text = Gemma4Processor.replace_video_token(processor, inputs, 0)
    return {
        "frames": frames,
        "fps": fps,
        "num_frames": num_frames,
        "soft_tokens": soft_tokens,
        "indices": [int(i) for i in indices],
        "text": text,
    }


def main():
    cases = [
        case(frames, fps, most, 1 + (i + j) % 3)
        for i, (frames, most) in enumerate(FRAMES)
        for j, fps in enumerate(RATES)
    ]
    json.dump(cases, sys.stdout, ensure_ascii=False, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
