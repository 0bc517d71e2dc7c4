#!/usr/bin/env bash
# Trains a model further, with fresh data, language and towers at once. It learns to admit what it would guess.
#
#   bash again.sh WORDNET MODEL.gguf TOWERS.pt VOCABULARY.json OUT
#
# make.sh leaves all of these: nano-q8.gguf, nano.pt.towers.pt and first/vocabulary.json. OUT/nano-q8.gguf comes of it.
set -euo pipefail
wordnet=$(realpath "$1") model=$(realpath "$2") towers=$(realpath "$3") words=$(realpath "$4")
mkdir -p "$5"
out=$(realpath "$5")
cd "$(dirname "${BASH_SOURCE[0]}")"
seed=${SEED:-31}

mkdir -p "$out/data"
xz -dkc checkpoint/teacher.jsonl.xz >"$out/teacher.jsonl"
cp "$words" "$out/data/vocabulary.json"
python pictures.py "$out/pictures" --count 12000 --seed "$seed"
python speech.py "$out/speech" --count 16000 --seed "$seed"
python unsure.py "$out/teacher.jsonl" "$model" "$words" "$out/unsure.jsonl" --count 12000
python data.py "$wordnet" "$out/teacher.jsonl" "$out/data" --chats 500000 --seed "$seed" --vocabulary "$words" \
  --unsure "$out/unsure.jsonl"
python train_media.py "$out/data" "$out/pictures" "$out/speech" "$out/nano.pt" --from "$model" --towers "$towers" \
  --seconds "${SECONDS_OF:-250}" --rate 0.01 --tower-rate 0.012 --rows 12 --media-rows 6 --large 22 --small 36 \
  --clips 130 --seed "$seed"
python export.py "$out/nano.pt" "$words" "$out/nano-q8.gguf" --types q8_0 --towers q8_0
