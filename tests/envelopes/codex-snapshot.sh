if [ -z "$BASH_ENV" ] && [ -r "$HOME/.bashrc" ]; then
  . "$HOME/.bashrc"
fi
echo '# Snapshot file'
unalias -a 2>/dev/null || true
echo '# Functions'
declare -f
run_one() {
  if command -v "$1" >/dev/null 2>&1; then
    "$@"
  else
    command -p "$@"
  fi
}
options=$(set -o | run_one awk '$2=="on"{print $1}')
count=$(printf '%s\n' "$options" | run_one sed '/^$/d' | wc -l | run_one tr -d ' ')
echo "# options $count"
if [ -n "$options" ]; then
  printf 'set -o %s\n' $options
fi
alias -p
lines=$(
  while IFS= read -r name; do
    if [[ "$name" =~ ^(PWD|OLDPWD)$ ]]; then
      continue
    fi
    declare -xp "$name" 2>/dev/null || true
  done < <(compgen -e)
)
if [ -n "$lines" ]; then
  printf '%s\n' "$lines"
fi
(
  while IFS= read -r name; do
    case "$name" in
      ""|[0-9]*|*[!A-Za-z0-9_]*|PWD) continue ;;
    esac
    printf '%s\0' "$name"
    declare -xp "$name" 2>/dev/null || true
  done < <(compgen -e)
)
