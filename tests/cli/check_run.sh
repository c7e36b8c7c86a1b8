#!/usr/bin/env bash
# What `lanewise run` does to a command: check_run.sh LANEWISE PLUGIN_FOLDER CASE
# [PROFILE MACHINE]: a profile of that machine whose best environment is NCCL_MIN_NCHANNELS=16
# shellcheck disable=SC2016 # the command's shell expands them
set -euo pipefail
lanewise=$1
plugin_folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset NCCL_TUNER_PLUGIN NCCL_THREAD_THRESHOLDS LD_LIBRARY_PATH
export HOME=$scratch

fail() {
  echo "not so: $*" >&2
  exit 1
}

status_of() {
  local status=0
  "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  echo "$status"
}

expect_status() {
  local expected=$1
  shift
  local status
  status=$(status_of "$@")
  [ "$status" = "$expected" ] || fail "status $status, expected $expected: $(cat "$scratch/err")"
}

# A profile whose best environment names a file that is not there yet.
name_graph_file() {
  profile=$scratch/profile.json
  sed "s|\"NCCL_MIN_NCHANNELS\": \"16\"|\"NCCL_GRAPH_FILE\": \"$scratch/ring graph.xml\"|" "$1" >"$profile"
  grep -q NCCL_GRAPH_FILE "$profile" || fail "the profile has a graph file"
}

case $3 in
  exit_status) expect_status 7 "$lanewise" run -- sh -c 'exit 7' ;;
  not_found) expect_status 127 "$lanewise" run -- "$scratch/nothing" ;;
  not_executable)
    touch "$scratch/file"
    expect_status 126 "$lanewise" run -- "$scratch/file"
    ;;
  no_command) expect_status 2 "$lanewise" run ;;
  no_separator)
    expect_status 2 "$lanewise" run true
    grep -q 'expected -- before the command' "$scratch/err" || fail "the error says what is missing"
    ;;
  bad_setting) LANEWISE_STATS=x expect_status 2 "$lanewise" run -- true ;;
  unknown_name)
    LANEWISE_MOED=off expect_status 0 "$lanewise" run -- true
    grep -q 'LANEWISE_MOED is no setting and changes nothing; the nearest is LANEWISE_MODE' "$scratch/err" ||
      fail "the nearest name is said"
    ;;
  signal) expect_status 143 "$lanewise" run -- sh -c 'kill -TERM $$' ;;
  same_process)
    "$lanewise" run -- sh -c 'echo $$' >"$scratch/out" 2>/dev/null &
    wait $!
    [ "$(cat "$scratch/out")" = $! ] || fail "the command keeps the process id"
    ;;
  words)
    "$lanewise" run -- printf '%s|' '[1,2]' '{}' '' '%%' --help -- run 'a b' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = '[1,2]|{}||%%|--help|--|run|a b|' ] || fail "words arrive unchanged"
    ;;
  loads)
    "$lanewise" run -- sh -c 'echo "$NCCL_TUNER_PLUGIN $LD_LIBRARY_PATH"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = "lanewise $plugin_folder" ] || fail "the plugin is on the path"
    grep -q 'set NCCL_TUNER_PLUGIN=lanewise' "$scratch/err" || fail "what is set is said"
    ;;
  base)
    "$lanewise" run -- sh -c 'echo "$NCCL_THREAD_THRESHOLDS"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = "-1 -1 -1 8" ] || fail "the base environment is set"
    grep -q 'set NCCL_THREAD_THRESHOLDS=-1 -1 -1 8 (NCCL keeps the channels' "$scratch/err" ||
      fail "the reason is said"
    NCCL_THREAD_THRESHOLDS='1 1' "$lanewise" run -- sh -c 'echo "$NCCL_THREAD_THRESHOLDS"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = "1 1" ] || fail "the user's thresholds are kept"
    LANEWISE_MODE=observe "$lanewise" run -- sh -c 'echo "<$NCCL_THREAD_THRESHOLDS>"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = "<>" ] || fail "who observes changes nothing"
    ;;
  base_of_each)
    "$lanewise" run --nccl 2.32.3 -- sh -c 'echo "$NCCL_ENV_PLUGIN<$NCCL_THREAD_THRESHOLDS>"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = "lanewise<>" ] || fail "NCCL asks the env plugin for each communicator"
    "$lanewise" env --docker --nccl 2.32.3 >"$scratch/out" 2>/dev/null
    grep -qx -- "-e 'NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'" "$scratch/out" || fail "a container has the one file"
    ! grep -q NCCL_ENV_PLUGIN "$scratch/out" || fail "and no env plugin"
    ;;
  base_env)
    eval "$("$lanewise" env 2>/dev/null)"
    [ "$NCCL_THREAD_THRESHOLDS" = "-1 -1 -1 8" ] || fail "a shell takes the base environment"
    "$lanewise" env --docker >"$scratch/out" 2>/dev/null
    grep -qx -- "-e 'NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'" "$scratch/out" || fail "so does docker"
    ;;
  keeps)
    NCCL_TUNER_PLUGIN=ofi "$lanewise" run -- sh -c 'echo "$NCCL_TUNER_PLUGIN"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = ofi ] || fail "the user's tuner is kept"
    grep -q 'NCCL_TUNER_PLUGIN=ofi is set already and kept' "$scratch/err" || fail "keeping is said"
    ;;
  keeps_conf)
    echo NCCL_TUNER_PLUGIN=ofi >"$scratch/.nccl.conf"
    "$lanewise" run -- sh -c 'echo "<$NCCL_TUNER_PLUGIN>"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = '<>' ] || fail "a configuration file's tuner is kept"
    ;;
  env_evaluates)
    eval "$("$lanewise" env 2>/dev/null)"
    [ "$NCCL_TUNER_PLUGIN $LD_LIBRARY_PATH" = "lanewise $plugin_folder" ] || fail "export lines work"
    ;;
  env_docker)
    "$lanewise" env --docker >"$scratch/out" 2>/dev/null
    grep -qx -- '-e NCCL_TUNER_PLUGIN=lanewise' "$scratch/out" || fail "a variable is an argument"
    for folder in /usr/lib /usr/lib64; do
      grep -q -- "-v .*/libnccl-tuner-lanewise.so:$folder/libnccl-tuner-lanewise.so:ro" "$scratch/out" ||
        fail "the plugin is mounted to $folder"
    done
    ;;
  env_docker_settings)
    LANEWISE_AGREE=require LANEWISE_LOG=debug LANEWISE_MODE= LANEWISE_MACHINE=$5 "$lanewise" env --docker >"$scratch/out" 2>/dev/null
    for word in LANEWISE_AGREE=require LANEWISE_LOG=debug "LANEWISE_MACHINE=$5"; do
      grep -qx -- "-e $word" "$scratch/out" || fail "$word is passed on"
    done
    grep -qx -- "-v $5:$5:ro" "$scratch/out" || fail "the machine's file is mounted"
    ! grep -q LANEWISE_MODE "$scratch/out" || fail "what is empty is not set"
    LANEWISE_AGREE=require "$lanewise" env >"$scratch/out" 2>/dev/null
    ! grep -q LANEWISE_AGREE "$scratch/out" || fail "this shell has it already"
    ;;
  nccl)
    # Two profiles of one machine, and a server whose Python has a wheel of the second's NCCL.
    mkdir -p "$scratch/venv/bin" "$scratch/venv/lib/python3.11/site-packages/nvidia/nccl/lib" \
      "$scratch/install/bin" "$scratch/install/lib" "$scratch/install/share/lanewise/profiles"
    cp "$lanewise" "$scratch/install/bin/" && cp "$plugin_folder/libnccl-tuner-lanewise.so" "$scratch/install/lib/"
    print=$(sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' "$4")
    cp "$4" "$scratch/install/share/lanewise/profiles/$print.json"
    sed 's/2\.30\.7/2.31.2/; s/"NCCL_MIN_NCHANNELS": "16"/"NCCL_MIN_NCHANNELS": "24"/' "$4" \
      >"$scratch/install/share/lanewise/profiles/$print-31.json"
    printf '#!/bin/sh\necho "<$NCCL_MIN_NCHANNELS>"\n' >"$scratch/venv/bin/python"
    chmod +x "$scratch/venv/bin/python"
    touch "$scratch/venv/pyvenv.cfg" "$scratch/venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"
    wheel=$scratch/venv/lib/python3.11/site-packages/nvidia_nccl_cu13
    server() { LANEWISE_MACHINE=$machine "$scratch/install/bin/lanewise" run "$@" -- "$scratch/venv/bin/python" 2>"$scratch/err"; }
    machine=$5
    mkdir "$wheel-2.31.2.dist-info"
    [ "$(server)" = '<24>' ] || fail "the profile of the server's NCCL counts: $(cat "$scratch/err")"
    [ "$(server --nccl 2.30.7)" = '<16>' ] || fail "--nccl counts before it"
    mv "$wheel-2.31.2.dist-info" "$wheel-2.27.3.dist-info"
    [ "$(server)" = '<>' ] || fail "no other NCCL's environment is applied"
    grep -q 'measured with NCCL 2.30.7, is not applied: the server has NCCL 2.27.3 (.*libnccl.so.2)' "$scratch/err" ||
      fail "both are said: $(cat "$scratch/err")"
    LANEWISE_MACHINE=$5 expect_status 2 "$lanewise" run --nccl new -- true
    grep -q 'nccl new: expected a release' "$scratch/err" || fail "what is wrong is said"
    ;;
  env_systemd)
    "$lanewise" env --systemd >"$scratch/out" 2>/dev/null
    grep -qx 'Environment="NCCL_TUNER_PLUGIN=lanewise"' "$scratch/out" || fail "a unit's line"
    ;;
  profile)
    LANEWISE_MACHINE=$5 "$lanewise" run --profile "$4" -- sh -c 'echo "$NCCL_MIN_NCHANNELS $LANEWISE_PROFILE"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = "16 $4" ] || fail "the best environment is set"
    grep -q 'set NCCL_MIN_NCHANNELS=16 (measured at 1.90x stock, 48.0 MiB more' "$scratch/err" ||
      fail "gain and memory are said"
    ;;
  profile_setting)
    LANEWISE_PROFILE=$4 LANEWISE_MACHINE=$5 "$lanewise" run -- sh -c 'echo "$NCCL_MIN_NCHANNELS"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = 16 ] || fail "the profile of the setting counts"
    ;;
  profile_keeps)
    NCCL_MIN_NCHANNELS=4 LANEWISE_MACHINE=$5 "$lanewise" run --profile "$4" -- sh -c 'echo "$NCCL_MIN_NCHANNELS"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = 4 ] || fail "the user's value is kept"
    grep -q 'NCCL_MIN_NCHANNELS=4 is set already and kept' "$scratch/err" || fail "keeping is said"
    ;;
  profile_engine)
    NCCL_GRAPH_REGISTER=0 NCCL_CUMEM_ENABLE=0 NCCL_MAX_CTAS=8 LANEWISE_MACHINE=$5 "$lanewise" run --profile "$4" -- \
      sh -c 'echo "$NCCL_MIN_NCHANNELS"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = 16 ] || fail "what engines set leaves the best environment"
    ! grep -q 'are not used' "$scratch/err" || fail "the choices are used"
    ;;
  profile_refused)
    NCCL_ALGO=Ring LANEWISE_MACHINE=$5 expect_status 0 "$lanewise" run --profile "$4" -- true
    grep -q "choices are not used: .*NCCL_ALGO is not set there and Ring here" "$scratch/err" || fail "a refusal is said"
    ;;
  profile_observe)
    LANEWISE_MODE=observe LANEWISE_MACHINE=$5 "$lanewise" run --profile "$4" -- sh -c 'echo "<$NCCL_MIN_NCHANNELS>"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = '<>' ] || fail "observing changes nothing"
    ;;
  profile_elsewhere)
    expect_status 2 "$lanewise" run --profile "$4" -- true
    grep -q 'made on machine' "$scratch/err" || fail "the error says why"
    ;;
  profile_missing) expect_status 2 "$lanewise" run --profile "$scratch/none.json" -- true ;;
  profile_docker)
    LANEWISE_MACHINE=$5 "$lanewise" env --docker --profile "$4" >"$scratch/out" 2>/dev/null || fail "it prints"
    grep -qx -- "-v $4:$4:ro" "$scratch/out" || fail "the profile is mounted"
    grep -qx -- "-e LANEWISE_PROFILE=$4" "$scratch/out" || fail "the profile is named"
    grep -qx -- '-e NCCL_MIN_NCHANNELS=16' "$scratch/out" || fail "the environment is set"
    ;;
  graph_docker)
    name_graph_file "$4"
    touch "$scratch/ring graph.xml"
    LANEWISE_MACHINE=$5 "$lanewise" env --docker --profile "$profile" >"$scratch/out" 2>/dev/null || fail "it prints"
    grep -qxF -- "-v '$scratch/ring graph.xml:$scratch/ring graph.xml:ro'" "$scratch/out" || fail "the graph file is mounted"
    grep -qxF -- "-e 'NCCL_GRAPH_FILE=$scratch/ring graph.xml'" "$scratch/out" || fail "the graph file is named"
    [ "$(grep -c '^-v ' "$scratch/out")" = 5 ] || fail "plugin (twice), profile, graph file and machine are mounted, no more"
    ;;
  graph_missing)
    name_graph_file "$4"
    LANEWISE_MACHINE=$5 expect_status 2 "$lanewise" run --profile "$profile" -- touch "$scratch/started"
    grep -qF "$profile: NCCL_GRAPH_FILE=$scratch/ring graph.xml: expected a file" "$scratch/err" ||
      fail "profile, variable and file are named"
    [ ! -e "$scratch/started" ] || fail "nothing is started"
    LANEWISE_MACHINE=$5 expect_status 2 "$lanewise" env --docker --profile "$profile"
    [ ! -s "$scratch/out" ] || fail "no line is printed"
    ;;
  graph_kept)
    name_graph_file "$4"
    NCCL_GRAPH_FILE="$scratch/ring graph.xml" LANEWISE_MACHINE=$5 expect_status 0 "$lanewise" run --profile "$profile" -- true
    ;;
  word_before)
    expect_status 2 "$lanewise" run nice -- true
    grep -q 'nice: expected -- before the command' "$scratch/err" || fail "no word is dropped"
    ;;
  without_proc)
    unshare -rm true 2>/dev/null || exit 77
    expect_status 7 unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$lanewise" run -- sh -c 'exit 7'
    ;;
  profile_none)
    LANEWISE_MACHINE=$5 "$lanewise" run --profile none -- sh -c 'echo "$LANEWISE_PROFILE"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = none ] || fail "the word is the setting's: $(cat "$scratch/err")"
    ;;
  profile_none_docker)
    LANEWISE_PROFILE=none LANEWISE_MACHINE=$5 "$lanewise" env --docker >"$scratch/out" 2>/dev/null || fail "it prints"
    grep -qx -- '-e LANEWISE_PROFILE=none' "$scratch/out" || fail "a container is told, too"
    ;;
  docker_colon)
    mkdir "$scratch/a:b,c"
    cp "$4" "$scratch/a:b,c/profile.json"
    LANEWISE_MACHINE=$5 "$lanewise" env --docker --profile "$scratch/a:b,c/profile.json" >"$scratch/out" 2>/dev/null || fail "it prints"
    file="$scratch/a:b,c/profile.json"
    grep -qxF -- "--mount 'type=bind,\"source=$file\",\"target=$file\",readonly'" "$scratch/out" ||
      fail "a path with a colon is mounted whole: $(cat "$scratch/out")"
    ;;
  tuner_stale)
    NCCL_TUNER_PLUGIN=$scratch/libnccl-tuner-lanewise.so LANEWISE_MACHINE=$5 \
      "$lanewise" run --profile "$4" -- sh -c 'echo "<$NCCL_MIN_NCHANNELS>"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = '<>' ] || fail "the environment goes with our choices alone"
    grep -q 'is not there' "$scratch/err" || fail "it is said"
    ;;
  tuner_copy)
    cp "$plugin_folder/libnccl-tuner-lanewise.so" "$scratch"
    NCCL_TUNER_PLUGIN=$scratch/libnccl-tuner-lanewise.so "$lanewise" run -- true 2>"$scratch/err"
    grep -q 'is another copy than' "$scratch/err" || fail "it is said"
    ;;
  other_copy)
    cp "$plugin_folder/libnccl-tuner-lanewise.so" "$scratch"
    LD_LIBRARY_PATH=/x:$scratch "$lanewise" run -- sh -c 'echo "$LD_LIBRARY_PATH"' >"$scratch/out" 2>"$scratch/err"
    [ "$(cat "$scratch/out")" = "$plugin_folder:/x:$scratch" ] || fail "our own comes first: $(cat "$scratch/out")"
    grep -q "$scratch holds another copy" "$scratch/err" || fail "it is said"
    ;;
  own_copy)
    LD_LIBRARY_PATH=/x:$plugin_folder:$scratch "$lanewise" run -- sh -c 'echo "$LD_LIBRARY_PATH"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = "/x:$plugin_folder:$scratch" ] || fail "a path that finds ours stays"
    ;;
  conf_mode)
    echo LANEWISE_MODE=observe >"$scratch/.nccl.conf"
    LANEWISE_MACHINE=$5 "$lanewise" run --profile "$4" -- sh -c 'echo "<$NCCL_MIN_NCHANNELS>"' >"$scratch/out" 2>/dev/null
    [ "$(cat "$scratch/out")" = '<>' ] || fail "a mode in NCCL's configuration file counts"
    ;;
  *) fail "no such case: $3" ;;
esac
