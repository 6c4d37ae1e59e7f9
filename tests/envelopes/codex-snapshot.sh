if [ -z "$BASH_ENV" ] && [ -r "$HOME/.bashrc" ]; then
  . "$HOME/.bashrc"
fi
echo '# Snapshot file'
unalias -a 2>/dev/null || true
echo '# Functions'
declare -f
options=$(set -o | awk '$2=="on"{print $1}')
count=$(printf '%s\n' "$options" | sed '/^$/d' | wc -l | tr -d ' ')
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
