#!/usr/bin/env bash
# Makes the project's own sounds with espeak-ng, flite and sox: demo.wav (a dozen words, two voices, noise), its list of
# words demo.csv, and yes.wav, which the firmware carries. Committed with what it made; nothing else needs to run it.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

words=(yes no up down left right on off stop go house yes)
say() { # word voice file
    case $2 in
    espeak) espeak-ng -v en-us -s 130 -p 45 -w "$work/raw.wav" "$1" ;;
    flite) flite -voice slt -t "$1" -o "$work/raw.wav" ;;
    esac
    sox "$work/raw.wav" -r 16000 -c 1 -b 16 "$3" silence 1 0.01 0.5% reverse silence 1 0.01 0.5% reverse norm -9
}

echo "word,start" >demo.csv
sox -n -r 16000 -c 1 -b 16 "$work/gap.wav" trim 0 0.9
pieces=("$work/gap.wav")
start=0.9
for index in "${!words[@]}"; do
    voice=espeak
    [ $((index % 2)) = 1 ] && voice=flite
    piece="$work/$index.wav"
    say "${words[$index]}" $voice "$piece"
    echo "${words[$index]},$start" >>demo.csv
    start=$(echo "$start + $(soxi -D "$piece") + 0.9" | bc)
    pieces+=("$piece" "$work/gap.wav")
done
sox "${pieces[@]}" "$work/speech.wav"
sox -R "$work/speech.wav" -p synth pinknoise vol -38dB | sox -R -m "$work/speech.wav" -p -r 16000 -b 16 -c 1 demo.wav
say yes flite "$work/yes.wav"
sox "$work/yes.wav" -r 16000 -b 16 -c 1 yes.wav pad 0.2 0.4
soxi demo.wav yes.wav
