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
    local text=$PREBUFFER$BUFFER
    [[ $text == *[^[:space:]]* ]] || return 0
    # What history makes of the line is what is decided, and seen first.
    if [[ -o banghist && $BUFFER == *[\^!]* ]]; then
      local typed=$BUFFER
      zle .expand-history
      [[ $BUFFER == $typed ]] || return 1
    fi
    local ends=$text
    while [[ $ends == *\\\\ ]]; do ends=${ends%\\\\}; done
    if [[ $text != *[#!]* ]] && { [[ $ends == *\\ ]] || ! __gsh_is_whole $text }; then
      # zsh itself asks for more of it, or says what is wrong: nothing runs. Of several lines the first would.
      [[ $BUFFER == *$'\n'* ]] || return 0
      [[ $BUFFER == *$'\n' ]] || { LBUFFER+=$'\n'; return 1 }
    fi
    __gsh_ask $text
  }

  # By the options that are set here, as zsh will read it.
  __gsh_is_whole() {
    local said
    said=$(functions[__gsh_probe]=$1 2>&1) && [[ -z $said ]]
  }

  __gsh_ask() {
    emulate -L zsh
    setopt extendedglob
    local text=$1 said defined= unsure=
    integer ended
    if (( $#text > 30000 )); then
      zle -I
      print -u2 -r -- 'gsh: not run: too long to be typed; put it into a file'
      return 1
    fi
    __gsh_told $text
    said=$(GSH_LINE=$text GSH_DEFINED=$defined GSH_UNSURE=$unsure $__gsh_program typed --shell zsh 2>/dev/null)
    ended=$?
    # The rest of a here-document.
    if [[ $said == unclear && $text == *'<<'* && $text != *$'\n' ]]; then
      LBUFFER+=$'\n'
      return 1
    fi
    if [[ $said,$ended != run,0 ]]; then
      zle -I
      said=$(GSH_LINE=$text GSH_DEFINED=$defined GSH_UNSURE=$unsure $__gsh_program typed --shell zsh --whole)
      ended=$?
    fi
    case $said,$ended in
      run,0) return 0 ;;
      no,126|*,130) return 1 ;;
      *) __gsh_broken $ended ;;
    esac
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
    local word value line=$1
    local -a words=(${=line//[^A-Za-z0-9_.+@-]/ })
    local -A known
    integer at=1
    if (( $#words > 400 )); then unsure='the line has more words than are looked at'; fi
    while (( at <= $#words && at <= 400 )); do
      word=$words[at] at+=1
      if (( $+galiases[$word] )) || [[ $word == *.* && -n ${saliases[${word##*.}]-} ]]; then
        unsure='an alias that holds for any word'
      fi
      [[ $word == [A-Za-z_.][A-Za-z0-9_.+@-]# && -z ${known[$word]-} ]] || continue
      known[$word]=yes
      if (( $+aliases[$word] )); then
        value=${${aliases[$word]#nocorrect }#noglob }
        defined+=$'a\x1e'$word$'\x1e'$value$'\x1f'
        words+=(${=value})
      elif (( $+functions[$word] )); then
        # Its body is zsh's language.
        [[ $word == __gsh_* || $word == gsh_off ]] || defined+=$'o\x1e'$word$'\x1f'
      elif [[ $line == *'$'* && ${parameters[$word]-} == scalar && $word != (text|said|defined|unsure|ended|word|value|line|at|known|words) ]]; then
        defined+=$'v\x1e'$word$'\x1e'${(P)word}$'\x1f'
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
