#!/usr/bin/env bash
# check_report.sh CASE PYTHON REPORT RESULT FOLDER: scripts/report.py on a small result.
set -u
case=$1 python=$2 report=$3 result=$4 page=$5/report_$1.html
if ! "$python" -c 'import matplotlib' 2>/dev/null; then
  echo "skipped: $python has no matplotlib"
  exit 77
fi
rm -f "$page"
fail() { echo "$1"; exit 1; }
case $case in
  sections)
    "$python" "$report" "$result" -o "$page" || fail "exit status $?"
    for text in Latency "Speedup and choice" "Step of an engine" Links "Geometric mean" \
      "tree/ll/4" "3 wrong sums" "nothing arrived within 5 s" "process 4711" "GPU &lt;A&gt;"; do
      grep -qF "$text" "$page" || fail "not in the page: $text"
    done
    [[ $(grep -oF "data:image/svg+xml" "$page" | wc -l) -eq 4 ]] || fail "expected 4 pictures"
    if grep -oE '(src|href)="[^d"][^"]*"' "$page"; then fail "the page needs another file"; fi
    ;;
  schema)
    sed 's/"schema_version": 1/"schema_version": 2/' "$result" > "$page.json"
    output=$("$python" "$report" "$page.json" -o "$page" 2>&1)
    [[ $? -eq 2 && $output == *"expected a result with schema_version 1"* ]] || fail "$output"
    [[ ! -e $page ]] || fail "a page was written"
    ;;
  words)
    echo '{"schema_version": 1, "sizes": [{"arms": 3}]}' > "$page.json"
    output=$("$python" "$report" "$page.json" -o "$page" 2>&1)
    [[ $? -eq 2 && $output == *"bench/report/result_schema.md"* ]] || fail "$output"
    ;;
  missing)
    output=$("$python" "$report" none.json -o "$page" 2>&1)
    [[ $? -eq 2 && $output == *"none.json"* ]] || fail "$output"
    ;;
  *) fail "no such case: $case" ;;
esac
