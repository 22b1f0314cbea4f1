#compdef grapevine
# Completion of grapevine for zsh, written by `grapevine completion zsh`.
_grapevine() {{
  local before="${{words[CURRENT-1]}}" path_= found= k
  local -a line; line=("${{words[@]}}")
  for ((k = 2; k < CURRENT; ++k)); do
    [[ ${{line[k]}} == -* ]] && break
    path_="${{path_:+$path_ }}${{line[k]}}"
    case "$path_" in {}) ;; *) break ;; esac
  done
  local offers=
  [[ $before == --set ]] && {{ compadd -S '' -- ${{=:-{}}}; return }}
  case "$path_ $before" in
{}    *) ;;
  esac
  [[ -z $offers ]] && case "$path_" in
{}    *) ;;
  esac
  [[ -n $offers ]] && compadd -- ${{=offers}}
  _files
}}
compdef _grapevine grapevine
