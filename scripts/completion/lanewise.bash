# shellcheck shell=bash
# Completion of lanewise for bash: commands and options as the tool's own help lists them, then files.
_lanewise() {
  local word=${COMP_WORDS[COMP_CWORD]} known=() i help
  for ((i = 1; i < COMP_CWORD; ++i)); do
    # After --, the words are those of the command that is started.
    [[ ${COMP_WORDS[i]} != -- ]] || { mapfile -t COMPREPLY < <(compgen -c -f -- "$word"); return; }
    [[ ${COMP_WORDS[i]} == -* ]] || known+=("${COMP_WORDS[i]}")
  done
  help=$("${COMP_WORDS[0]}" "${known[@]:0:2}" --help 2>/dev/null || "${COMP_WORDS[0]}" "${known[@]:0:1}" --help 2>/dev/null)
  local options commands
  options=$(grep -oE -- '--[a-z][a-z-]*' <<<"$help" | sort -u)
  commands=$(sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
  mapfile -t COMPREPLY < <(compgen -W "$options"$'\n'"$commands" -- "$word")
  [[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _lanewise lanewise
