#!/bin/sh
# Hold the clients of Ollama, OpenAI and Anthropic to a real Ollama server, which
# speaks all three.
#
#   ollama.sh CACHE_DIR
#
# The server is built once, into CACHE_DIR, which takes some ten minutes of
# processor time. It needs a C++ compiler, and of Debian nlohmann-json3-dev and
# libstb-dev: module archives leave out the folder in which Ollama keeps these.
# Its models are made here and need no download.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
version=v0.17.4
cache=$1/ollama-$version
for header in nlohmann/json.hpp stb/stb_image.h; do
	if [ ! -e "/usr/include/$header" ]; then
		echo "$0: $header is missing; install g++, nlohmann-json3-dev and libstb-dev" >&2
		exit 1
	fi
done
mkdir -p "$cache/include/miniaudio" "$cache/home"
if [ ! -x "$cache/ollama" ]; then
	# What the server needs of its audio library, of which no test makes use.
	cat >"$cache/include/miniaudio/miniaudio.h" <<'CPP'
#pragma once
#include <cstddef>
#include <cstdint>
typedef int ma_result;
typedef uint64_t ma_uint64;
typedef uint32_t ma_uint32;
enum { MA_SUCCESS = 0, MA_ERROR = -1 };
typedef enum { ma_format_f32 = 5 } ma_format;
struct ma_decoder_config { int unused; };
struct ma_decoder { int unused; };
static inline ma_decoder_config ma_decoder_config_init(ma_format, ma_uint32, ma_uint32) { return {}; }
static inline ma_result ma_decoder_init_memory(const void *, size_t, const ma_decoder_config *, ma_decoder *) { return MA_ERROR; }
static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }
CPP
	(cd "$cache" && GOBIN="$cache/bin" CGO_ENABLED=1 CGO_CPPFLAGS="-I$cache/include" go install -p 2 "github.com/ollama/ollama@$version")
	mv "$cache/bin/ollama" "$cache/ollama"
fi

cd "$root"
go build -o "$cache/gguf" ./bench/peers/ollama/gguf
go build -o "$cache/checker" ./bench/peers/ollama
"$cache/gguf" "$cache/tiny.gguf"
"$cache/gguf" -noise "$cache/noise.gguf"
cat >"$cache/Tiny" <<'MODEL'
FROM ./tiny.gguf
TEMPLATE """{{- range .Messages }}{{ .Role }}: {{ .Content }}{{ if .ToolCalls }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}{{ end }}
{{ end }}{{ $last := (index .Messages (slice .Messages 1 | len)) }}{{ if eq $last.Role "tool" }}<|final|>{{ else if .Tools }}<|tool|>{{ else if eq $last.Content "go on and on" }}<|on|>{{ else }}<|say|>{{ end }}"""
PARAMETER temperature 0
PARAMETER num_ctx 2048
MODEL
printf 'FROM ./noise.gguf\nPARAMETER num_ctx 2048\nPARAMETER seed 1\n' >"$cache/Noise"

host=127.0.0.1:${OLLAMA_PORT:-18434}
export OLLAMA_HOST="$host" OLLAMA_MODELS="$cache/models" HOME="$cache/home" OLLAMA_NO_CLOUD=1
"$cache/ollama" serve >"$cache/server.log" 2>&1 &
server=$!
trap 'kill "$server"' EXIT
tries=0
until "$cache/ollama" list >/dev/null 2>&1; do
	tries=$((tries + 1))
	if [ "$tries" -gt 100 ]; then
		echo "the Ollama server does not start; see $cache/server.log" >&2
		exit 1
	fi
	sleep 0.1
done
(cd "$cache" && ./ollama create tiny -f Tiny >/dev/null 2>&1 && ./ollama create noise -f Noise >/dev/null 2>&1)
"$cache/checker" "http://$host"
