# gsh looks over your shoulder: every line that you enter in this zsh is decided by gsh before zsh runs it.
#
#     gsh init zsh         adds to ~/.zshrc:  GSH_WHEN_BROKEN=strict; source FILE PROGRAM
#
# The widgets that accept a line are replaced by one that has gsh decide first; a refused line stays in the editor.
# Plugins that wrap widgets (autosuggestions, highlighting) wrap this one. gsh reads a line as bash would; what zsh
# reads in its own way is asked about. Switch it off in one shell: gsh_off. What gsh cannot answer holds the line
# (strict) or lets it run (warn).

if [[ -o interactive && -o zle && -z ${__gsh_program-} ]]; then
  zmodload zsh/parameter zsh/zle
  typeset -gr __gsh_program=${1:-gsh} __gsh_when_broken=${GSH_WHEN_BROKEN:-strict} __gsh_beneath=${GSH_MODE+yes}
  typeset -ga __gsh_widgets=(accept-line accept-line-and-down-history accept-and-hold accept-and-infer-next-history)
  typeset -g __gsh_told_broken=

  __gsh_accept() {
    setopt localoptions noerrexit nounset noxtrace
    unsetopt nounset
    # Words that `vared` and `select` read are no commands.
    if [[ $CONTEXT != (start|cont) || $BUFFER == gsh_off ]] || __gsh_may_run; then
      zle .$WIDGET
    fi
    return 0
  }

  __gsh_may_run() {
    local __gsh_text=$PREBUFFER$BUFFER __gsh_said __gsh_ended __gsh_defined= __gsh_unsure= __gsh_typed=$BUFFER
    [[ $__gsh_text == *[^[:space:]]* ]] || return 0
    # What history makes of the line is what is decided, and seen first.
    if [[ -o banghist && $BUFFER == *[\^!]* ]]; then
      zle .expand-history
      [[ $BUFFER == $__gsh_typed ]] || return 1
    fi
    if (( $#__gsh_text > 30000 )); then
      zle -I
      print -u2 -r -- 'gsh: not run: too long to be typed; put it into a file'
      return 1
    fi
    __gsh_told $__gsh_text
    __gsh_answer 2>/dev/null
    if [[ $__gsh_said == unclear ]] && ! __gsh_is_whole $__gsh_text; then
      # zsh itself asks for more of it, or says what is wrong: nothing runs. Of several lines the first would.
      [[ $BUFFER == *$'\n'* || $__gsh_text == *'<<'* ]] || return 0
      [[ $BUFFER == *$'\n' ]] || { LBUFFER+=$'\n'; return 1 }
    fi
    if [[ $__gsh_said,$__gsh_ended != run,0 ]]; then
      zle -I
      __gsh_answer --whole
    fi
    case $__gsh_said,$__gsh_ended in
      run,0) return 0 ;;
      no,126|*,130) return 1 ;;
      *) __gsh_broken $__gsh_ended ;;
    esac
  }

  __gsh_answer() {
    __gsh_said=$(GSH_LINE=$__gsh_text GSH_DEFINED=$__gsh_defined GSH_UNSURE=$__gsh_unsure $__gsh_program typed --shell zsh $@)
    __gsh_ended=$?
  }

  # By the options that are set here, as zsh will read it. What hides the rest of a line is not looked through.
  __gsh_is_whole() {
    local __gsh_ends=$1 __gsh_parsed=
    [[ $1 != *[#!]* ]] || return 0
    while [[ $__gsh_ends == *\\\\ ]]; do __gsh_ends=${__gsh_ends%\\\\}; done
    [[ $__gsh_ends != *\\ ]] || return 1
    # The rest of a here-document: zsh would take it as it is.
    [[ $1 != *'<<'* || $1 == *$'\n' ]] || return 1
    # A text that zsh cannot read to its end defines nothing.
    { { functions[__gsh_probe]=$1 } 2>/dev/null } always { TRY_BLOCK_ERROR=0 }
    __gsh_parsed=$+functions[__gsh_probe]
    (( ! __gsh_parsed )) || unset 'functions[__gsh_probe]'
    (( __gsh_parsed ))
  }

  # What gsh cannot answer. Told in full once.
  __gsh_broken() {
    if [[ $__gsh_when_broken == warn ]]; then
      [[ -n $__gsh_told_broken ]] || print -u2 -r -- "gsh: $__gsh_program gives no answer (status $1): lines run as they are, undecided"
      __gsh_told_broken=yes
      return 0
    fi
    print -u2 -r -- "gsh: not run: $__gsh_program gives no answer (status $1)"
    [[ -n $__gsh_told_broken ]] || print -u2 -r -- 'gsh: gsh_off switches it off in this shell; GSH_WHEN_BROKEN=warn in ~/.zshrc lets lines run'
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
    local said answer widget
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
    for widget in $__gsh_widgets; do zle -A .$widget $widget; done
    print -u2 -r -- 'gsh: off in this shell'
  }

  () {
    local widget
    for widget in $__gsh_widgets; do zle -N $widget __gsh_accept; done
  }
fi
