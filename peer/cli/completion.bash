# Completion of grapevine for bash, written by `grapevine completion bash`.
_grapevine() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" path= words= k
  for ((k = 1; k < COMP_CWORD; ++k)); do
    [[ ${{COMP_WORDS[k]}} == -* ]] && break
    path="${{path:+$path }}${{COMP_WORDS[k]}}"
    case "$path" in {}) ;; *) break ;; esac
  done
  case "$path $before" in
    *' --set') words={} ;;
{}    *) ;;
  esac
  [[ $before == --set ]] && compopt -o nospace 2> /dev/null
  [[ -z $words ]] && case "$path" in
{}    *) ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _grapevine grapevine
