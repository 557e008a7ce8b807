#!/usr/bin/env bash
# tidy.sh LANGUAGE-FLAG... FILE: what clang-tidy finds in the file, without the count of warnings in the headers of others.
exec clang-tidy --quiet "${@: -1}" -- "${@:1:$#-1}" 2>/dev/null
