#!/usr/bin/env bash
# check_output.sh STATUS TEXT COMMAND...: the command must exit with STATUS and print TEXT.
status=$1 text=$2
shift 2
output=$("$@" 2>&1)
actual=$?
printf '%s\n' "$output"
[[ $actual -eq $status ]] || { echo "exit status $actual, expected $status"; exit 1; }
[[ $output == *"$text"* ]] || { echo "expected in the output: $text"; exit 1; }
