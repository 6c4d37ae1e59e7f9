# gsh looks over your shoulder: every line that you enter in this bash is decided by gsh before bash runs it.
#
#     gsh init bash        adds to ~/.bashrc:  GSH_WHEN_BROKEN=strict; source FILE PROGRAM
#
# Enter is bound to two key sequences: the first has gsh decide what stands in the editor (`bind -x`), the second is
# `accept-line` after a yes and nothing after a no, so that a refused line stays there to be corrected. A DEBUG trap
# was not taken: it sees single commands and not lines, cannot give the line back, needs extdebug, which changes how
# functions and traps behave, and bash-preexec, starship and atuin set it themselves. Key bindings are nobody else's.
#
# What is decided is the line's text, history expanded, with the aliases, functions and variables that it names.
# Switch it off in one shell: gsh_off. What gsh cannot answer holds the line (strict) or lets it run (warn).

# Aliases of the person are not for what is read here.
\shopt -q expand_aliases && __gsh_aliased=yes
\shopt -u expand_aliases

__gsh_load() {
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    echo 'gsh: this bash is older than 4.4, and gsh does not look into it' >&2
    return
  fi
  if [[ -n ${BLE_VERSION-} ]]; then
    echo 'gsh: ble.sh has a line editor of its own, and gsh does not look into it' >&2
    return
  fi
  [[ -z ${__gsh_program-} ]] || return 0
  declare -gr __gsh_program=${1:-gsh} __gsh_when_broken=${GSH_WHEN_BROKEN:-strict}
  # gsh tells what it starts; such a shell is not a person's own.
  declare -gr __gsh_beneath=${GSH_MODE+yes} __gsh_patience=${2:-5}
  declare -g __gsh_proven='' __gsh_decided='' __gsh_number='' __gsh_told_taken=''
  # Keys that nobody presses: whoever could send the second one unasked has to know it.
  local number=$((RANDOM * 32768 + RANDOM))
  declare -gr __gsh_first="\\C-x\\C-_${number}a" __gsh_second="\\C-x\\C-_${number}b"
  declare -ga __gsh_was=()
  local map line key
  for map in emacs vi-insert vi-command; do
    while IFS= read -r line; do
      [[ $line == *': accept-line' || $line == *': operate-and-get-next' || $line == *': edit-and-execute-command' \
        || $line == *': vi-edit-and-execute-command' ]] || continue
      key=${line#\"} key=${key%\": *}
      __gsh_was+=("$map" "\"$key\"${line##*\"}")
      if [[ $line == *accept-line || $line == *operate-and-get-next ]]; then
        bind -m "$map" "\"$key\": \"$__gsh_first$__gsh_second\""
      else
        # What an editor leaves goes back into the line, and Enter decides it.
        bind -m "$map" -x "\"$key\": __gsh_edit"
      fi
    done < <(bind -m "$map" -p)
    bind -m "$map" -x "\"$__gsh_first\": __gsh_enter"
    bind -m "$map" "\"$__gsh_second\": \"\""
  done
  __gsh_hook
  # A pasted block comes as one text, and is decided as one.
  bind 'set enable-bracketed-paste on' 2>/dev/null
  readonly -f __gsh_enter __gsh_ask __gsh_told __gsh_answer __gsh_go __gsh_hook __gsh_disarm __gsh_edit __gsh_broken __gsh_history \
    __gsh_is_well __gsh_expanded __gsh_incomplete __gsh_unbind gsh_off
}

# What was let through once is over at the next prompt. First, since others let their DEBUG trap take what comes after
# the last of them for a command of the person's; bash gives each of the array the status as it was. Only bash-preexec,
# before its first prompt, looks for itself in the first place, and puts its own last.
__gsh_hook() {
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__gsh_disarm
  elif [[ ${PROMPT_COMMAND-} == *__bp_install* ]]; then
    PROMPT_COMMAND+=(__gsh_disarm)
  else
    PROMPT_COMMAND=(__gsh_disarm ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"})
  fi
}

# Says what the second key sequence does.
__gsh_go() {
  local map
  [[ $1 != accept-line ]] || __gsh_decided=yes
  for map in emacs vi-insert vi-command; do bind -m "$map" "\"$__gsh_second\": $1"; done
}

# Of several in one string each has the status that the one before left.
__gsh_disarm() {
  local status=$? number='\#'
  number=${number@P}
  # Keys that were bound anew after this file leave lines undecided.
  if [[ -z $__gsh_decided$__gsh_told_taken && -n $__gsh_number && $number != "$__gsh_number" ]]; then
    __gsh_told_taken=yes
    echo 'gsh: a line ran undecided: something else has taken Enter; load gsh after it' >&2
  fi
  __gsh_number=$number __gsh_decided=
  __gsh_go '""'
  [[ $- == *e* ]] || return "$status"
}

__gsh_enter() {
  # What the person set for their own commands is not for these.
  { local -; set +eux; } 2>/dev/null
  __gsh_go '""'
  [[ ${PROMPT_COMMAND[*]-} == *__gsh_disarm* ]] || __gsh_hook
  case $READLINE_LINE in
    gsh_off) __gsh_go accept-line ;;
    *[!$' \t\n']*)
      # `read -e` in a function reads no command.
      if ((${#FUNCNAME[@]} > 1)) || __gsh_history && __gsh_ask; then __gsh_go accept-line; fi
      ;;
    *) __gsh_go accept-line ;;
  esac
  return 0
}

# Has gsh decide what stands in the editor: 0 when it may run.
__gsh_ask() {
  if ((${#READLINE_LINE} > 30000)); then
    echo 'gsh: not run: too long to be typed; put it into a file' >&2
    return 1
  fi
  local __gsh_defined='' __gsh_unsure='' __gsh_said='' __gsh_ended
  __gsh_is_well || { __gsh_broken; return; }
  __gsh_told
  __gsh_answer
  if [[ $__gsh_said == unclear ]] && __gsh_incomplete; then
    READLINE_LINE+=$'\n' READLINE_POINT=${#READLINE_LINE}
    return 1
  fi
  if ((__gsh_ended == 3)); then __gsh_answer --whole; fi
  case $__gsh_said,$__gsh_ended in
    run,0) return 0 ;;
    no,126) return 1 ;;
    # An interrupt while gsh worked: nothing was decided.
    *,130) return 1 ;;
    *) __gsh_proven= && __gsh_broken ;;
  esac
}

# Whether it runs at all, within a time: asked before the first line, and again when there was no answer. From then on
# gsh itself looks at the time.
__gsh_is_well() {
  [[ -z $__gsh_proven ]] || return 0
  local __gsh_timed=()
  if type -P timeout >/dev/null; then __gsh_timed=(timeout -k 1 "$__gsh_patience"); fi
  __gsh_said=$("${__gsh_timed[@]}" "$__gsh_program" --version </dev/null)
  __gsh_ended=$?
  [[ $__gsh_said,$__gsh_ended == 'gsh '*,0 ]] && __gsh_proven=yes
}

__gsh_answer() {
  __gsh_said=$(GSH_LINE=$READLINE_LINE GSH_DEFINED=$__gsh_defined GSH_UNSURE=$__gsh_unsure \
    "$__gsh_program" typed --shell bash "$@")
  __gsh_ended=$?
}

# What gsh cannot answer. Told in full once.
__gsh_broken() {
  if [[ $__gsh_when_broken == warn ]]; then
    [[ -n ${__gsh_told_broken-} ]] || echo "gsh: $__gsh_program gives no answer (status $__gsh_ended): lines run as they are, undecided" >&2
    __gsh_told_broken=yes
    return 0
  fi
  echo "gsh: not run: $__gsh_program gives no answer (status $__gsh_ended)" >&2
  [[ -n ${__gsh_told_broken-} ]] || echo 'gsh: gsh_off switches it off in this shell; GSH_WHEN_BROKEN=warn in ~/.bashrc lets lines run' >&2
  __gsh_told_broken=yes
  return 1
}

# Puts what bash's history makes of the line in its place: what is decided is what runs.
__gsh_history() {
  [[ $- == *H* && $READLINE_LINE == *['!^']* ]] || return 0
  local __gsh_made __gsh_again
  if ! __gsh_made=$(__gsh_expanded "$READLINE_LINE" 2>/dev/null); then
    echo 'gsh: not run: history has no such event' >&2
    return 1
  fi
  [[ $__gsh_made != "$READLINE_LINE" ]] || return 0
  __gsh_again=$(__gsh_expanded "$__gsh_made" 2>/dev/null) || __gsh_again=
  READLINE_LINE=$__gsh_made READLINE_POINT=${#__gsh_made}
  # Shown first; and where it would be expanded once more, never run as it is.
  [[ $__gsh_again == "$__gsh_made" ]] || echo 'gsh: history would change this line again' >&2
  return 1
}

# In a subshell: `history -p` takes the last entry for its own line and drops it, unless that was put there by `-s`.
__gsh_expanded() {
  local HISTTIMEFORMAT= last
  unset HISTTIMEFORMAT
  last=$(history 1)
  if [[ $last =~ ^\ *[0-9]+[*\ ]\ (.*)$ ]]; then history -s -- "${BASH_REMATCH[1]}"; fi
  history -p "$1"
}

# Whether bash wants more of it. A last line that is empty says that there is no more.
__gsh_incomplete() {
  [[ $READLINE_LINE != *$'\n' ]] || return 1
  local text=$READLINE_LINE said
  while [[ $text == *\\\\ ]]; do text=${text%\\\\}; done
  [[ $text != *\\ ]] || return 0
  said=$(LC_ALL=C "$BASH" --norc -O extglob -n -c "$READLINE_LINE" 2>&1)
  [[ $said == *'unexpected end of file'* || $said == *'unexpected EOF'* || $said == *'delimited by end-of-file'* ]]
}

# Tells gsh what this shell knows of the line's words, in entries that 0x1f ends.
__gsh_told() {
  local __gsh_line=$READLINE_LINE __gsh_words=() __gsh_word __gsh_text __gsh_done=' ' __gsh_at=0
  if [[ $__gsh_line == *['*?[']* && $BASHOPTS == *@(dotglob|globstar|nullglob|nocaseglob)* ]]; then
    __gsh_unsure='a shopt option changes what patterns find'
  fi
  if [[ $__gsh_line == *'$'* && ${IFS-$' \t\n'} != $' \t\n' ]]; then __gsh_unsure='IFS is not what it is by default'; fi
  local - IFS=$' \t\n;|&(){}<>`"\'=$,:\\'
  set -f
  __gsh_words=($__gsh_line)
  while ((__gsh_at < ${#__gsh_words[@]} && __gsh_at < 400)); do
    __gsh_word=${__gsh_words[__gsh_at]}
    __gsh_at=$((__gsh_at + 1))
    [[ $__gsh_word =~ ^[A-Za-z_.][A-Za-z0-9_.+@-]*$ && $__gsh_done != *" $__gsh_word "* ]] || continue
    __gsh_done+="$__gsh_word "
    if [[ -n ${BASH_ALIASES[$__gsh_word]+set} ]]; then
      __gsh_text=${BASH_ALIASES[$__gsh_word]}
      __gsh_defined+=$'a\036'$__gsh_word$'\036'$__gsh_text$'\037'
      __gsh_words+=($__gsh_text)
    elif declare -F -- "$__gsh_word" >/dev/null; then
      if [[ $__gsh_word == __gsh_* || $__gsh_word == gsh_off ]]; then continue; fi
      __gsh_text=$(declare -f -- "$__gsh_word")
      if ((${#__gsh_text} > 4000)); then
        __gsh_defined+=$'o\036'$__gsh_word$'\037'
      else
        __gsh_defined+=$'f\036'$__gsh_word$'\036'$__gsh_text$'\037'
      fi
    elif [[ $__gsh_line == *'$'* && $__gsh_word =~ ^[A-Za-z_][A-Za-z0-9_]*$ && $__gsh_word != __gsh_* ]]; then
      # What is exported gsh sees by itself; arrays and references stay unknown to it.
      if [[ -n ${!__gsh_word+set} && ${!__gsh_word@a} != *[aAnx]* && $__gsh_word != IFS ]]; then
        __gsh_defined+=$'v\036'$__gsh_word$'\036'${!__gsh_word}$'\037'
      fi
    fi
  done
  if ((${#__gsh_words[@]} > 400)); then __gsh_unsure='the line has more words than are looked at'; fi
  if [[ -n ${CDPATH-} ]]; then __gsh_defined+=$'v\036CDPATH\036'$CDPATH$'\037'; fi
  return 0
}

__gsh_edit() {
  local file text
  file=$(mktemp "${TMPDIR:-/tmp}/gsh-line.XXXXXX") || return
  printf '%s\n' "$READLINE_LINE" >"$file"
  ${VISUAL:-${EDITOR:-vi}} "$file" </dev/tty >/dev/tty && text=$(<"$file") && READLINE_LINE=$text READLINE_POINT=${#text}
  command rm -f -- "$file"
}

# For the person who sits here: gsh looks whether that is so.
gsh_off() {
  { local -; set +eux; } 2>/dev/null
  local said answer
  said=$("$__gsh_program" typed --off)
  case $said,$? in
    off,0) ;;
    ,126) return 1 ;;
    *)
      if [[ -n $__gsh_beneath || ! -t 0 ]]; then
        echo "gsh: not switched off: $__gsh_program gives no answer, and this shell was started by gsh" >&2
        return 1
      fi
      IFS= read -r -p "gsh: $__gsh_program gives no answer. Type the word off to go on without it: " answer </dev/tty
      [[ $answer == off ]] || return 1
      ;;
  esac
  __gsh_unbind
  echo 'gsh: off in this shell' >&2
}

__gsh_unbind() {
  local at
  for ((at = 0; at < ${#__gsh_was[@]}; at += 2)); do
    bind -m "${__gsh_was[at]}" "${__gsh_was[at + 1]}"
  done
  for at in "${!PROMPT_COMMAND[@]}"; do
    case ${PROMPT_COMMAND[at]} in
      __gsh_disarm) unset 'PROMPT_COMMAND[at]' ;;
      *__gsh_disarm*) PROMPT_COMMAND[at]=${PROMPT_COMMAND[at]/$'\n'__gsh_disarm/} ;;
    esac
  done
}

[[ $- == *i* ]] && __gsh_load "$@"
unset -f __gsh_load
[[ -z ${__gsh_aliased-} ]] || shopt -s expand_aliases
unset __gsh_aliased
