"""What transformers makes of a model's prompts, images and clips."""

import os

import numpy as np
import torch
from PIL import Image
from scipy.io import wavfile
from transformers import Gemma4AudioFeatureExtractor
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

TOKENS, MEDIA_TOKENS, LAST = 24, 8, 4  # greedy tokens, those after a medium, positions whose logits are kept with one
# Of a prompt with more tokens than SHORT, the logits of the last TAIL positions are kept, and of each position every
# EVERY-th: as many as most cases' streams are wide. An odd step comes to each lane of a kernel's tile.
SHORT, TAIL, EVERY = 16, 8, 7


class Reference:
    """Runs a model. Text is given by ids; a position that holds a soft token has the id of the image or audio token."""

    def __init__(self, model, file, folder):
        self.model, self.file, self.folder = model, file, folder

    @torch.no_grad()
    def forward(self, ids, medium=None, **more):
        ids = torch.tensor([ids])
        if not hasattr(self.model.config, "image_token_id"):
            return self.model(input_ids=ids, use_cache=False, **more)
        images = ids == self.model.config.image_token_id
        return self.model(input_ids=ids, mm_token_type_ids=images.int(), use_cache=False, **(medium or {}), **more)

    def greedy(self, ids, count, medium=None):
        """The most probable tokens, one after another, and by how much each is ahead of the next."""
        ids, tokens, margins = list(ids), [], []
        for _ in range(count):
            best = self.forward(ids, medium).logits[0, -1].topk(2)
            tokens.append(best.indices[0].item())
            margins.append(round((best.values[0] - best.values[1]).item(), 5))
            ids.append(tokens[-1])
        return tokens, margins

    def prompt(self, ids, hidden=False):
        out = self.forward(ids, output_hidden_states=hidden)
        arrays = {"logits": out.logits[0]}
        if len(ids) > SHORT:
            arrays = {"logits": out.logits[0, -TAIL:], "columns": out.logits[0, :, ::EVERY]}
        if hidden:
            arrays |= {f"hidden.{i}": h[0] for i, h in enumerate(out.hidden_states)}
        return arrays

    @torch.no_grad()
    def float32_error(self, ids):
        """How far logits are from those that the same model gives in float64."""
        logits = self.forward(ids).logits[0]
        self.model.double()
        exact = self.forward(ids).logits[0]
        self.model.float()
        return ((logits - exact).norm() / exact.norm()).item()

    def image(self, name, budget):
        """What the processor and the tower make of an image: arrays, the model's inputs, patches' columns and rows."""
        vision = self.model.config.vision_config
        processor = Gemma4ImageProcessorPil(
            max_soft_tokens=budget,
            patch_size=vision.patch_size,
            pooling_kernel_size=vision.pooling_kernel_size,
        )
        with Image.open(os.path.join(self.folder, name)) as picture:
            made = processor(picture.convert("RGB"), return_tensors="pt")
        places = made["image_position_ids"][0]
        count = int((places[:, 0] >= 0).sum())
        size = [int(n) + 1 for n in places[:count].max(0).values]
        medium = {"pixel_values": made["pixel_values"].float(), "image_position_ids": made["image_position_ids"]}
        with torch.no_grad():
            soft = self.model.model.get_image_features(**medium, return_dict=True).pooler_output[0]
        return {"pixels": medium["pixel_values"][0, :count], "soft": soft}, medium, size

    def clip(self, name):
        """The same of a clip, with the number of valid frames."""
        rate, samples = wavfile.read(os.path.join(self.folder, name))
        made = Gemma4AudioFeatureExtractor(sampling_rate=rate)(
            [samples.astype(np.float32) / 32768], return_tensors="pt"
        )
        medium = {"input_features": made["input_features"], "input_features_mask": made["input_features_mask"]}
        with torch.no_grad():
            out = self.model.model.get_audio_features(**medium, return_dict=True)
        soft = out.pooler_output[out.attention_mask]
        return {"mel": made["input_features"][0], "soft": soft}, medium, int(made["input_features_mask"].sum())

    def with_medium(self, ids, medium):
        """ids has the id of the soft tokens' placeholder in their places."""
        tokens, margins = self.greedy(ids, MEDIA_TOKENS, medium)
        return self.forward(ids, medium).logits[0, -LAST:], tokens, margins
