# For the steps: installs what only they need. Sourced, from the root of the project.
need() {   # PACKAGE ...
  local name missing=()
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

cpp_sources() {   # our own C++ files below the given folders (all of them without any)
  git ls-files -- "$@" | grep -E '\.(h|cpp)$'
}

turn() {   # N: which of N parts this commit does, of what is too much for every change
  echo $((16#$(git rev-parse HEAD | cut -c1-7) % $1))
}
