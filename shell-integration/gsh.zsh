# gsh looks over your shoulder: every line that you enter in this zsh is decided by gsh before zsh runs it.
#
#     gsh init zsh         adds to ~/.zshrc:  GSH_WHEN_BROKEN=strict; source FILE PROGRAM
#
# The widgets that accept a line are replaced by ones that have gsh decide first; a refused line stays in the editor.
# Plugins that wrap widgets (autosuggestions, highlighting) wrap these, or are wrapped: what accepted a line before is
# what accepts it after a yes. gsh reads a line as bash would; what zsh reads in its own way is asked about. Switch it
# off in one shell: gsh_off. What gsh cannot answer holds the line (strict) or lets it run (warn).

# Aliases of the person are not for what is read here.
[[ ! -o aliases ]] || __gsh_aliased=yes
\setopt no_aliases

# A zsh that is made to be another shell reads this file as zsh all the same.
if [[ -z ${__gsh_program-} ]] && [[ -o shglob || -o kshglob || -o ksharrays || -o ignorebraces || -o shwordsplit ]]; then
  __gsh_file="${(%):-%x}" __gsh_given="${1:-gsh}" __gsh_waits="${2:-5}"
  __gsh_outer="${__gsh_aliased-}"
  unset __gsh_aliased
  emulate zsh -o no_aliases -c '. "$__gsh_file" "$__gsh_given" "$__gsh_waits"'
  __gsh_aliased="$__gsh_outer"
  unset __gsh_file __gsh_given __gsh_waits __gsh_outer
fi

if [[ -o interactive && -o zle && -z ${__gsh_program-} ]]; then
  zmodload zsh/parameter zsh/zle
  typeset -gr __gsh_program=${1:-gsh} __gsh_when_broken=${GSH_WHEN_BROKEN:-strict} __gsh_beneath=${GSH_MODE+yes}
  typeset -ga __gsh_widgets=(accept-line accept-line-and-down-history accept-and-hold accept-and-infer-next-history)
  typeset -gr __gsh_patience=${2:-5}
  typeset -g __gsh_told_broken= __gsh_told_taken= __gsh_decided= __gsh_proven=

  # By the name of what accepts the line: a plugin that wraps this calls it by another. These run with the options of
  # the person, who may have set any.
  __gsh_accept() {
    setopt localoptions localtraps
    unsetopt errexit nounset xtrace
    # Every command of a trap has the line painted anew, in the middle of what is said here.
    trap - DEBUG
    # Words that `vared` and `select` read are no commands.
    if [[ "$CONTEXT" != start && "$CONTEXT" != cont || "$BUFFER" == gsh_off ]]; then
      zle "$1"
    elif __gsh_may_run; then
      local __gsh_text="$BUFFER"
      __gsh_decided=yes
      zle "$1"
      # What accepted lines before may have put in another one.
      if [[ "$BUFFER" != "$__gsh_text" ]] && ! __gsh_may_run; then
        print -rz -- "$BUFFER"
        BUFFER=
      fi
    fi
    return 0
  }

  # A widget that took the place of these, and does not call them, leaves lines undecided.
  __gsh_before() {
    [[ -z "$__gsh_decided$__gsh_told_taken" && "$1" != gsh_off ]] || return 0
    __gsh_told_taken=yes
    print -u2 -r -- "gsh: this line was not decided: another widget has taken Enter (accept-line is ${widgets[accept-line]-gone}); load gsh after it"
  }

  __gsh_after() { __gsh_decided=; }

  __gsh_may_run() {
    local __gsh_text="$PREBUFFER$BUFFER" __gsh_said= __gsh_ended= __gsh_defined= __gsh_unsure= __gsh_typed="$BUFFER"
    [[ "$__gsh_text" == *[^[:space:]]* ]] || return 0
    # What history makes of the line is what is decided, and seen first.
    if [[ -o banghist && "$BUFFER" == *[\^!]* ]]; then
      zle .expand-history
      [[ "$BUFFER" == "$__gsh_typed" ]] || return 1
    fi
    if (( ${#__gsh_text} > 30000 )); then
      zle -I
      print -u2 -r -- 'gsh: not run: too long to be typed; put it into a file'
      return 1
    fi
    __gsh_is_well || { zle -I; __gsh_broken "$__gsh_ended"; return; }
    __gsh_told "$__gsh_text"
    __gsh_answer 2>/dev/null
    if [[ "$__gsh_said" == unclear ]] && ! __gsh_is_whole "$__gsh_text"; then
      # zsh itself asks for more of it, or says what is wrong: nothing runs. Of several lines the first would.
      [[ "$BUFFER" == *$'\n'* || "$__gsh_text" == *'<<'* ]] || return 0
      [[ "$BUFFER" == *$'\n' ]] || { LBUFFER+=$'\n'; return 1; }
    fi
    if [[ "$__gsh_said,$__gsh_ended" != run,0 ]]; then
      zle -I
      __gsh_answer --whole
    fi
    case "$__gsh_said,$__gsh_ended" in
      run,0) return 0 ;;
      no,126|*,130) return 1 ;;
      *) __gsh_proven= && __gsh_broken "$__gsh_ended" ;;
    esac
  }

  # Whether it runs at all, within a time: asked before the first line, and again when there was no answer. From then
  # on gsh itself looks at the time.
  __gsh_is_well() {
    [[ -z "$__gsh_proven" ]] || return 0
    if (( ${+commands[timeout]} )); then
      __gsh_said="$(timeout -k 1 "$__gsh_patience" "$__gsh_program" --version 2>/dev/null </dev/null)"
    else
      __gsh_said="$("$__gsh_program" --version 2>/dev/null </dev/null)"
    fi
    __gsh_ended="$?"
    [[ "$__gsh_said,$__gsh_ended" == 'gsh '*,0 ]] && __gsh_proven=yes
  }

  __gsh_answer() {
    __gsh_said="$(GSH_LINE="$__gsh_text" GSH_DEFINED="$__gsh_defined" GSH_UNSURE="$__gsh_unsure" "$__gsh_program" typed --shell zsh "$@")"
    __gsh_ended="$?"
  }

  # By the options that are set here, as zsh will read it. What hides the rest of a line is not looked through.
  __gsh_is_whole() {
    local __gsh_ends="$1" __gsh_parsed=
    [[ "$1" != *[\#!]* ]] || return 0
    while [[ "$__gsh_ends" == *'\\' ]]; do __gsh_ends="${__gsh_ends%??}"; done
    [[ "$__gsh_ends" != *'\' ]] || return 1
    # The rest of a here-document: zsh would take it as it is.
    [[ "$1" != *'<<'* || "$1" == *$'\n' ]] || return 1
    # A text that zsh cannot read to its end defines nothing.
    { { functions[__gsh_probe]="$1"; } 2>/dev/null; } always { TRY_BLOCK_ERROR=0; }
    __gsh_parsed="${+functions[__gsh_probe]}"
    (( ! __gsh_parsed )) || unset 'functions[__gsh_probe]'
    (( __gsh_parsed ))
  }

  # What gsh cannot answer. Told in full once.
  __gsh_broken() {
    if [[ "$__gsh_when_broken" == warn ]]; then
      [[ -n "$__gsh_told_broken" ]] || print -u2 -r -- "gsh: $__gsh_program gives no answer (status $1): lines run as they are, undecided"
      __gsh_told_broken=yes
      return 0
    fi
    print -u2 -r -- "gsh: not run: $__gsh_program gives no answer (status $1)"
    [[ -n "$__gsh_told_broken" ]] || print -u2 -r -- 'gsh: gsh_off switches it off in this shell; GSH_WHEN_BROKEN=warn in ~/.zshrc lets lines run'
    __gsh_told_broken=yes
    return 1
  }

  # Tells gsh what this shell knows of the line's words, in entries that 0x1f ends.
  __gsh_told() {
    emulate -L zsh
    setopt extendedglob
    local __gsh_word __gsh_value
    local -a __gsh_words=(${=1//[^A-Za-z0-9_.+@-]/ })
    local -A __gsh_known
    integer __gsh_at=1
    if (( $#__gsh_words > 400 )); then __gsh_unsure='the line has more words than are looked at'; fi
    while (( __gsh_at <= $#__gsh_words && __gsh_at <= 400 )); do
      __gsh_word=$__gsh_words[__gsh_at]
      (( __gsh_at += 1 ))
      if (( $+galiases[$__gsh_word] )) || [[ $__gsh_word == *.* && -n ${saliases[${__gsh_word##*.}]-} ]]; then
        __gsh_unsure='an alias that holds for any word'
      fi
      [[ $__gsh_word == [A-Za-z_.][A-Za-z0-9_.+@-]# && -z ${__gsh_known[$__gsh_word]-} ]] || continue
      __gsh_known[$__gsh_word]=yes
      if (( $+aliases[$__gsh_word] )); then
        __gsh_value=${${aliases[$__gsh_word]#nocorrect }#noglob }
        __gsh_defined+=$'a\x1e'$__gsh_word$'\x1e'$__gsh_value$'\x1f'
        __gsh_words+=(${=__gsh_value})
      elif (( $+functions[$__gsh_word] )); then
        # Its body is zsh's language.
        [[ $__gsh_word == __gsh_* || $__gsh_word == gsh_off ]] || __gsh_defined+=$'o\x1e'$__gsh_word$'\x1f'
      elif [[ $1 == *'$'* && ${parameters[$__gsh_word]-} == scalar && $__gsh_word != __gsh_* ]]; then
        __gsh_defined+=$'v\x1e'$__gsh_word$'\x1e'${(P)__gsh_word}$'\x1f'
      fi
    done
    return 0
  }

  # For the person who sits here: gsh looks whether that is so.
  gsh_off() {
    emulate -L zsh
    local said answer widget was
    said=$($__gsh_program typed --off)
    case $said,$? in
      off,0) ;;
      ,126) return 1 ;;
      *)
        if [[ -n $__gsh_beneath || ! -t 0 ]]; then
          print -u2 -r -- "gsh: not switched off: $__gsh_program gives no answer, and this shell was started by gsh"
          return 1
        fi
        read -r "answer?gsh: $__gsh_program gives no answer. Type the word off to go on without it: " </dev/tty
        [[ $answer == off ]] || return 1
        ;;
    esac
    for widget in $__gsh_widgets; do
      was=__gsh_was_$widget
      (( $+widgets[$was] )) || was=.$widget
      zle -A $was $widget
    done
    preexec_functions=(${preexec_functions:#__gsh_before})
    precmd_functions=(${precmd_functions:#__gsh_after})
    print -u2 -r -- 'gsh: off in this shell'
  }

  () {
    local widget was
    for widget in $__gsh_widgets; do
      was=.$widget
      if [[ ${widgets[$widget]-} == user:* ]]; then
        was=__gsh_was_$widget
        zle -A $widget $was
      fi
      functions[__gsh_${widget//-/_}]="__gsh_accept $was"
      zle -N $widget __gsh_${widget//-/_}
    done
    typeset -ga preexec_functions precmd_functions
    preexec_functions+=(__gsh_before)
    precmd_functions+=(__gsh_after)
  }
fi

[[ -z ${__gsh_aliased-} ]] || setopt aliases
unset __gsh_aliased
